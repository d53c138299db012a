import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { boardAddress } from '../../shared/api/base_path.ts'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'

export type ClientConfig = Schemas['ClientConfigResponse']

/** The texts that connect clients, with the address that this page has. */
export function connectQuery(agent: string | undefined) {
  return queryOptions({
    queryKey: ['connect', agent],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/connect', { params: { query: { address: boardAddress(), agent } }, signal })),
    staleTime: 300_000,
    placeholderData: keepPreviousData,
  })
}

/** The agents that this user may connect as. */
export const agentsQuery = queryOptions({
  queryKey: ['agents', 'connect'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/agents', { params: { query: { limit: 200 } }, signal })),
})

/** The tools that the examples can call: those of the agent, or all. */
export function exampleToolsQuery(agent: string | undefined) {
  return queryOptions({
    queryKey: ['connect-tools', agent],
    queryFn: async ({ signal }) => {
      const query = { view: 'summary' as const, is_active: true, limit: 200, agent }
      const page = await unwrap(api.GET('/v1/tools', { params: { query }, signal }))
      return (page.items as Schemas['ToolSummary'][]).filter((tool) => !tool.drifted).map((tool) => tool.name)
    },
    // The page keeps its place while another choice is loaded.
    placeholderData: keepPreviousData,
  })
}

/** The tool of the examples, for its schema. */
export function exampleToolQuery(name: string | undefined) {
  return queryOptions({
    queryKey: ['tool', name],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/tools/{ref}', { params: { path: { ref: name ?? '' } }, signal })),
    enabled: name !== undefined,
    placeholderData: keepPreviousData,
  })
}
