import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'
import type { Span } from '../tool_search.ts'

const HOUR_MS = 3_600_000
const HOURS: Record<Span, number> = { hour: 1, day: 24, week: 168, month: 720 }
const REFRESH_MS = 30_000

/** The calls of a tool in a time span that ends now, and how many of them took how long. */
export function toolStatisticsQuery(tool: string, span: Span) {
  return queryOptions({
    queryKey: ['statistics', 'latencies', tool, span],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - HOURS[span] * HOUR_MS).toISOString()
      const query = { tool: [tool], since, latencies: true }
      const data = await unwrap(api.GET('/v1/executions/statistics', { params: { query }, signal }))
      return data as Schemas['LatencyStatisticsResponse']
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
}
