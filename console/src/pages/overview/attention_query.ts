import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'
import { listExpiring } from './expiring_keys.ts'

export type Upstream = Schemas['UpstreamResponse']

const REFRESH_MS = 30_000
const MAX_UPSTREAMS = 100

/** The MCP servers that drifted, do not answer or are not called after failures. */
export const troubledUpstreamsQuery = queryOptions({
  queryKey: ['upstreams'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/upstreams', { params: { query: { limit: MAX_UPSTREAMS } }, signal })),
  select: (page) => page.items.filter(({ state, connection }) => state !== 'ok' || connection.circuit === 'open'),
  refetchInterval: REFRESH_MS,
})

/** What is wrong with the server; for admins. */
export const boardTroubleQuery = queryOptions({
  queryKey: ['board'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/board', { signal })),
  select: ({ not_ready, spool, checks }) => ({
    reasons: [...not_ready, ...(spool.trouble ? [spool.trouble] : [])],
    checks: checks.filter((check) => check.level !== 'ok'),
  }),
  refetchInterval: REFRESH_MS,
})

/** The keys of a user that expire within a week. */
export function expiringKeysQuery(userId: string) {
  return queryOptions({
    queryKey: ['keys', userId],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/users/{user_id}/keys', { params: { path: { user_id: userId } }, signal })),
    select: (list) => listExpiring(list.items, Date.now()),
  })
}
