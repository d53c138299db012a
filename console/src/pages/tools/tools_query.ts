import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'
import type { ToolsSearch } from './tools_search.ts'

const PAGE_SIZE = 100

/** The tools that match the filters, a page at a time, with how many there are. */
export function toolsQuery(search: ToolsSearch) {
  return infiniteQueryOptions({
    queryKey: ['tool-list', search],
    queryFn: ({ pageParam, signal }) =>
      unwrap(api.GET('/v1/tools', { params: { query: toQuery(search, pageParam) }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    select: (data) => ({
      tools: data.pages.flatMap((page) => page.items as Schemas['ToolSummary'][]),
      count: (data.pages[0] as Schemas['ToolSummaryPage'] | undefined)?.count ?? undefined,
    }),
    placeholderData: keepPreviousData,
    // Rows move only when the person asks for new ones.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

function toQuery(search: ToolsSearch, cursor: string | undefined) {
  const { q, kind, state, tag, sort } = search
  return {
    view: 'summary' as const,
    limit: PAGE_SIZE,
    count: cursor === undefined,
    cursor,
    q,
    tag,
    sort,
    tool_type: kind as Schemas['Kind'] | undefined,
    is_active: state === 'active' ? true : state === 'inactive' ? false : undefined,
    drifted: state === 'drifted' ? true : undefined,
    deleted: state === 'deleted' ? true : undefined,
  }
}

export type Activity = { calls: number[]; total: number; p95: number | null }

/** The calls of a day of up to 200 tools, by the tool's name. */
export function activityQuery(ids: string[]) {
  return queryOptions({
    queryKey: ['activity', ids],
    queryFn: async ({ signal }) => {
      const query = { by: 'hour' as const, compact: true, tool: ids.slice(0, 200) }
      const data = await unwrap(api.GET('/v1/executions/statistics', { params: { query }, signal }))
      const { tools } = data as Schemas['CompactStatisticsResponse']
      return new Map<string, Activity>(tools.map((each) => [each.tool_name, summarise(each)]))
    },
    enabled: ids.length > 0,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  })
}

function summarise(series: Schemas['ToolSeries']): Activity {
  const slowest = (series.p95_ms as (number | null)[]).filter((value) => value !== null)
  const total = series.calls.reduce((sum, each) => sum + each, 0)
  return { calls: series.calls, total, p95: slowest.length > 0 ? Math.max(...slowest) : null }
}
