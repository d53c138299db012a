import { queryOptions } from '@tanstack/react-query'
import type { Schemas } from '../../shared/api/client.ts'
import { boardQuery, upstreamsQuery } from '../../shared/board/board_query.ts'
import { keysQuery } from '../../shared/keys/keys_query.ts'
import { listExpiring } from './expiring_keys.ts'

export type Upstream = Schemas['UpstreamResponse']

/** The MCP servers that drifted, do not answer or are not called after failures. */
export const troubledUpstreamsQuery = queryOptions({
  ...upstreamsQuery,
  select: (page) => page.items.filter(({ state, connection }) => state !== 'ok' || connection.circuit === 'open'),
})

/** What is wrong with the server; for admins. */
export const boardTroubleQuery = queryOptions({
  ...boardQuery,
  select: ({ not_ready, spool, checks }) => ({
    reasons: [...not_ready, ...(spool.trouble ? [spool.trouble] : [])],
    checks: checks.filter((check) => check.level !== 'ok'),
  }),
})

/** The keys of a user that expire within a week. */
export function expiringKeysQuery(userId: string) {
  return queryOptions({ ...keysQuery(userId), select: (list) => listExpiring(list.items, Date.now()) })
}
