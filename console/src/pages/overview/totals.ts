import type { Period, ToolStatistics } from './overview_query.ts'

export interface Totals {
  calls: number
  succeeded: number
  failed: number
  refused: number
  in_doubt: number
}

/** Return the sums over all periods. */
export function addPeriods(series: Period[]): Totals {
  const totals: Totals = { calls: 0, succeeded: 0, failed: 0, refused: 0, in_doubt: 0 }
  for (const period of series) {
    for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += period[name]
  }
  return totals
}

export type Ranking = 'calls' | 'p95_ms' | 'problems'

/** Return the first tools by number of calls, by duration or by failed and refused calls; those with none are left out. */
export function rankTools(tools: ToolStatistics[], by: Ranking, limit = 5): ToolStatistics[] {
  const value = (tool: ToolStatistics) =>
    by === 'problems' ? tool.failed + tool.refused + tool.in_doubt : ((tool[by] as number | null) ?? 0)
  return tools
    .filter((tool) => tool.tool_name !== null && value(tool) > 0)
    .sort((one, other) => value(other) - value(one))
    .slice(0, limit)
}
