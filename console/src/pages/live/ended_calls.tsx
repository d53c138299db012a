import { Text } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { formatDuration } from '../../shared/format/numbers.ts'
import { DataList } from '../../shared/list/data_list.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import { STATUS_TEXT } from '../executions/status_text.ts'
import classes from './live_page.module.css'
import type { EndedCall } from './live_state.ts'

const COLUMNS = ['Tool', 'Status', 'Code', 'Caller', 'Started', 'Duration']

/** The calls that ended while the page was open; each opens its row in the journal. */
export function EndedCalls({ calls }: { calls: EndedCall[] }) {
  const navigate = useNavigate()
  if (calls.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Calls appear here when they end.
      </Text>
    )
  }
  return (
    <DataList
      label="Ended calls"
      columns={COLUMNS}
      rows={calls}
      className={classes.grid}
      rowHeight={45}
      keyOf={(call) => call.id}
      onOpen={(call) => void navigate({ to: '/executions', search: { open: call.id } })}
      hasMore={false}
      loadMore={() => undefined}
      renderCells={(call) => [
        <Link key="tool" to="/executions" search={{ open: call.id }} className={classes.tool}>
          {spellHidden(call.tool_name)}
        </Link>,
        <StatusBadge key="status" tone={STATUS_TEXT[call.status].tone} hasDot>
          {STATUS_TEXT[call.status].label}
        </StatusBadge>,
        <span key="code" className={classes.by}>
          {call.code}
        </span>,
        <span key="caller" className={classes.by}>
          {spellHidden(call.caller)}
        </span>,
        <span key="started" className={classes.by}>
          <TimeText>{call.started_at}</TimeText>
        </span>,
        <span key="duration" className={classes.elapsed}>
          {formatDuration(call.elapsed_ms)}
        </span>,
      ]}
    />
  )
}
