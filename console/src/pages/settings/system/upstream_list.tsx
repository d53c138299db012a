import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../../shared/api/client.ts'
import { upstreamsQuery } from '../../../shared/board/board_query.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'
import { PanelRow } from '../panel_row.tsx'

const STATES = {
  ok: { tone: 'quiet', label: 'Answers' },
  drifted: { tone: 'warn', label: 'Drifted' },
  unavailable: { tone: 'bad', label: 'Does not answer' },
} as const

/** The imported MCP servers, with their sessions, circuit breakers and last errors. */
export function UpstreamList() {
  const upstreams = useQuery(upstreamsQuery)
  return (
    <Panel title="MCP servers" note="The imported ones of all users, as the process that answers sees them.">
      {upstreams.error && (
        <ErrorState error={upstreams.error} what="The MCP servers" retry={() => void upstreams.refetch()} />
      )}
      {upstreams.isPending && !upstreams.error && <ListOutline rows={2} />}
      {upstreams.data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No MCP server is imported.
        </Text>
      )}
      {upstreams.data && upstreams.data.items.length > 0 && (
        <ul className={classes.rows}>
          {upstreams.data.items.map((upstream) => (
            <UpstreamRow key={upstream.id} upstream={upstream} />
          ))}
        </ul>
      )}
      {upstreams.data?.next_cursor && <Text size="sm">There are more; these are the first 100.</Text>}
    </Panel>
  )
}

function UpstreamRow({ upstream }: { upstream: Schemas['UpstreamResponse'] }) {
  const { name, state, counts, connection, server_url, command } = upstream
  const session = command ? 'process' : 'session'
  return (
    <PanelRow
      name={
        <>
          <ForeignText isMono>{name}</ForeignText>
          <StatusBadge tone={STATES[state].tone} hasDot>
            {STATES[state].label}
          </StatusBadge>
          {connection.circuit === 'open' && (
            <StatusBadge tone="bad" hasDot>
              Calls are refused
            </StatusBadge>
          )}
        </>
      }
      facts={
        <>
          <ForeignText isMono limit={200}>
            {server_url ?? (command ?? []).join(' ')}
          </ForeignText>
          <span>
            {counts.tools === 1 ? '1 tool' : `${counts.tools} tools`}
            {counts.drifted > 0 && `, ${counts.drifted} drifted`}
          </span>
          <span>{connection.is_open ? `A ${session} is open` : `No ${session} is open`}</span>
          {connection.calls > 0 && <span>{connection.calls} calls run</span>}
          {connection.checked_at && (
            <span>
              Read <TimeText>{connection.checked_at}</TimeText>
            </span>
          )}
        </>
      }
    >
      {connection.last_error && (
        <Text size="sm">
          <ForeignText limit={400}>{connection.last_error}</ForeignText>
        </Text>
      )}
    </PanelRow>
  )
}
