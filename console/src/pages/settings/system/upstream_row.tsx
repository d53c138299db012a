import { Text } from '@mantine/core'
import type { Schemas } from '../../../shared/api/client.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { PanelRow } from '../panel_row.tsx'

const STATES = {
  ok: { tone: 'quiet', label: 'Answers' },
  drifted: { tone: 'warn', label: 'Drifted' },
  unavailable: { tone: 'bad', label: 'Does not answer' },
} as const

/** One imported MCP server: its tools, its session, its last error. */
export function UpstreamRow({ upstream }: { upstream: Schemas['UpstreamResponse'] }) {
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
