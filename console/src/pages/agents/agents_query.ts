import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'

export type Agent = Schemas['AgentResponse']

const PAGE_SIZE = 200

/** The agents that the person may see, oldest first, a page at a time. */
export const agentsQuery = infiniteQueryOptions({
  queryKey: ['agents'],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET('/v1/agents', { params: { query: { limit: PAGE_SIZE, cursor: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: (data) => data.pages.flatMap((page) => page.items),
})

/** The names of the first users by their id; for admins. */
export const ownersQuery = queryOptions({
  queryKey: ['users', 'names'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/users', { params: { query: { limit: PAGE_SIZE } }, signal })),
  select: (page) => new Map(page.items.map((user) => [user.id, user.name])),
  staleTime: 60_000,
})

/** Return the agents whose name or description contains a text, in any case. */
export function filterAgents(agents: Agent[], text: string | undefined): Agent[] {
  const wanted = text?.trim().toLowerCase()
  if (!wanted) return agents
  return agents.filter((agent) => `${agent.name}\n${agent.description ?? ''}`.toLowerCase().includes(wanted))
}
