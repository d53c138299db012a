import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'
import type { Span } from './overview_search.ts'

export type Period = Schemas['PeriodStatisticsResponse']
export type ToolStatistics = Schemas['ToolStatisticsResponse']

const HOUR_MS = 3_600_000
const HOURS: Record<Span, number> = { hour: 1, day: 24, week: 168, month: 720 }
const REFRESH_MS = 30_000

/** Return the first moment of a span that ends now. The statistics count whole hours. */
export function startOf(span: Span, now = Date.now()): string {
  return new Date(now - HOURS[span] * HOUR_MS).toISOString()
}

/** The calls of a span by hour or day, and of each tool. */
export function statisticsQuery(span: Span) {
  return queryOptions({
    queryKey: ['statistics', span],
    queryFn: async ({ signal }) => {
      const since = startOf(span)
      const by = span === 'week' || span === 'month' ? ('day' as const) : ('hour' as const)
      const data = await unwrap(api.GET('/v1/executions/statistics', { params: { query: { since, by } }, signal }))
      return data as Schemas['SeriesStatisticsResponse']
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
}
