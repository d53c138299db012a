import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { Schemas } from '../../../shared/api/client.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'
import { PanelRow } from '../panel_row.tsx'
import { originsQuery } from './origins_query.ts'

const SHOWN_TOOLS = 5

/** The servers that HTTP tools call, with their circuit breakers and last failures. */
export function OriginList() {
  const origins = useQuery(originsQuery)
  return (
    <Panel
      title="HTTP servers"
      note="The servers that HTTP tools call. After several failures in a row, a circuit breaker refuses calls for a while."
    >
      {origins.error && (
        <ErrorState error={origins.error} what="The HTTP servers" retry={() => void origins.refetch()} />
      )}
      {origins.isPending && !origins.error && <ListOutline rows={2} />}
      {origins.data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No tool calls an HTTP server.
        </Text>
      )}
      {origins.data && origins.data.items.length > 0 && (
        <ul className={classes.rows}>
          {origins.data.items.map((origin) => (
            <OriginRow key={origin.origin} origin={origin} />
          ))}
        </ul>
      )}
      {origins.data?.more && <Text size="sm">There are more; these are the first 200.</Text>}
    </Panel>
  )
}

function OriginRow({ origin }: { origin: Schemas['OriginResponse'] }) {
  const shown = origin.tools.slice(0, SHOWN_TOOLS)
  const more = origin.tool_count - shown.length
  const isOpen = origin.circuit === 'open'
  return (
    <PanelRow
      name={
        <>
          <ForeignText isMono>{origin.origin}</ForeignText>
          <StatusBadge tone={isOpen ? 'bad' : 'quiet'} hasDot>
            {isOpen ? 'Calls are refused' : 'Calls are sent'}
          </StatusBadge>
        </>
      }
      facts={
        <>
          <span>
            {shown.map((tool, place) => (
              <Fragment key={tool.id}>
                {place > 0 && ', '}
                <Anchor
                  underline="always"
                  size="sm"
                  renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: tool.name }} {...props} />}
                >
                  <ForeignText isMono limit={80}>
                    {tool.name}
                  </ForeignText>
                </Anchor>
              </Fragment>
            ))}
            {more > 0 && ` and ${more.toLocaleString('en')} more`}
          </span>
          {isOpen && (
            <span>
              The circuit breaker is open for {origin.open_circuits === 1 ? '1 user' : `${origin.open_circuits} users`}
            </span>
          )}
          {origin.last_failed_at ? (
            <span>
              Failed last <TimeText>{origin.last_failed_at}</TimeText>: {origin.last_error_code}
            </span>
          ) : (
            <span>No failure since the start</span>
          )}
        </>
      }
    />
  )
}
