import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

const MAX_AGENTS = 200

/** The first agents that the user may see. */
export const agentsQuery = queryOptions({
  queryKey: ['agents', 'all'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/agents', { params: { query: { limit: MAX_AGENTS } }, signal })),
  select: (page) => page.items,
})
