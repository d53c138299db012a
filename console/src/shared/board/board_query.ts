import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

const REFRESH_MS = 30_000
const MAX_UPSTREAMS = 100

/** The running board with its checks; for admins. */
export const boardQuery = queryOptions({
  queryKey: ['board'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/board', { signal })),
  refetchInterval: REFRESH_MS,
})

/** The first imported MCP servers with their connections. */
export const upstreamsQuery = queryOptions({
  queryKey: ['upstreams'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/upstreams', { params: { query: { limit: MAX_UPSTREAMS } }, signal })),
  refetchInterval: REFRESH_MS,
})
