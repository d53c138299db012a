import type { Execution } from './executions_query.ts'
import type { ExecutionsSearch } from './executions_search.ts'

/** Return whether a call that has just ended belongs to a list with these filters. */
export function matchesFilters(row: Execution, filters: ExecutionsSearch): boolean {
  const { tool, caller, since, until, min_ms } = filters
  const isEqual = (wanted: string | undefined, value: string | null | undefined) =>
    wanted === undefined || wanted === value
  return (
    (tool === undefined || tool === row.tool_name || tool === row.tool_id) &&
    isEqual(filters.status, row.status) &&
    isEqual(filters.surface, row.surface) &&
    isEqual(filters.code, row.code) &&
    isEqual(caller, row.caller_id) &&
    isEqual(filters.agent, row.agent_id) &&
    isEqual(filters.kind, row.kind) &&
    isEqual(filters.dialect, row.dialect) &&
    isEqual(filters.thread, row.thread_id) &&
    isEqual(filters.chain, row.chain_id) &&
    isEqual(filters.request_id, row.request_id) &&
    (since === undefined || Date.parse(row.started_at) >= Date.parse(since)) &&
    (until === undefined || Date.parse(row.started_at) < Date.parse(until)) &&
    (min_ms === undefined || row.elapsed_ms >= min_ms)
  )
}
