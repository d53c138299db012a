import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'

export type Upstream = Schemas['UpstreamResponse']
export type UpstreamDetails = Schemas['UpstreamDetails']
export type ApiDocument = Schemas['OpenApiSourceResponse']
export type CheckReport = Schemas['McpImportResponse']

const PAGE_SIZE = 200
// The state of connections is not an event of the change stream.
const REFRESH_MS = 30_000

/** What shows the imported servers and documents; loaded again after a check, an import or a removal. */
export const SOURCE_QUERIES = [['upstream-list'], ['upstreams'], ['upstream'], ['import-documents'], ['drifted-tools']]

/** The imported MCP servers, a page at a time. */
export const upstreamListQuery = infiniteQueryOptions({
  queryKey: ['upstream-list'],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET('/v1/upstreams', { params: { query: { limit: PAGE_SIZE, cursor: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: (data) => data.pages.flatMap((page) => page.items),
  refetchInterval: REFRESH_MS,
})

/** The API documents that tools were imported from, a page at a time. */
export const documentListQuery = infiniteQueryOptions({
  queryKey: ['import-documents'],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET('/v1/imports/openapi', { params: { query: { limit: PAGE_SIZE, cursor: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: (data) => data.pages.flatMap((page) => page.items),
})

/** One MCP server with everything that it offers. */
export function upstreamQuery(id: string) {
  return queryOptions({
    queryKey: ['upstream', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/upstreams/{upstream_id}', { params: { path: { upstream_id: id } }, signal })),
  })
}

/** The tools that their servers have changed: all of them for an admin, else one's own. */
export function driftedToolsQuery(isAdmin: boolean) {
  return queryOptions({
    queryKey: ['drifted-tools', isAdmin],
    queryFn: async ({ signal }) => {
      const query = { view: 'summary' as const, drifted: true, limit: PAGE_SIZE, mine: isAdmin ? undefined : true }
      const page = await unwrap(api.GET('/v1/tools', { params: { query }, signal }))
      return { tools: page.items as Schemas['ToolSummary'][], hasMore: Boolean(page.next_cursor) }
    },
  })
}

/** Compare a server with what it offers now; marks what it has changed. */
export function checkUpstream(id: string): Promise<CheckReport> {
  return unwrap(api.POST('/v1/upstreams/{upstream_id}/check', { params: { path: { upstream_id: id } } }))
}

/** What a server has changed; asks the server. */
export function changesQuery(id: string) {
  return queryOptions({
    queryKey: ['upstream-changes', id],
    queryFn: () => checkUpstream(id),
    // Each one starts a session with the server.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
  })
}

/** What the server of a tool has changed in it. */
export function toolChangeQuery(ref: string) {
  return queryOptions({
    queryKey: ['tool-change', ref],
    queryFn: () => unwrap(api.POST('/v1/tools/{ref}/accept', { params: { path: { ref }, query: { dry_run: true } } })),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
  })
}
