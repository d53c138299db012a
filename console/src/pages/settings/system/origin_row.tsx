import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { Schemas } from '../../../shared/api/client.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { PanelRow } from '../panel_row.tsx'

const SHOWN_TOOLS = 5

/** One server of HTTP tools: its tools, its circuit breakers, its last failure. */
export function OriginRow({ origin }: { origin: Schemas['OriginResponse'] }) {
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
