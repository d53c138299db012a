import { StatusBadge } from '../../shared/list/status_badge.tsx'
import type { Execution } from './executions_query.ts'

/** What is special about a row: a repeat, several attempts, a part of a chain. */
export function RowBadges({ row }: { row: Execution }) {
  return (
    <>
      {row.repeat_of && (
        <StatusBadge tone="idle" title="It got the recorded result of an earlier call with the same idempotency key">
          Repeat
        </StatusBadge>
      )}
      {row.attempts > 1 && <StatusBadge tone="warn">{`${row.attempts} attempts`}</StatusBadge>}
      {row.chain_id && <StatusBadge tone="idle">Chain</StatusBadge>}
    </>
  )
}
