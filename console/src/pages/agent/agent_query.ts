import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'
import type { Agent } from '../agents/agents_query.ts'

export type Lint = Schemas['LintResponse']
export type ToolRow = Schemas['ToolSummary']

const PAGE_SIZE = 200
/** More tools would make the address of the request too long for a proxy. */
export const MAX_COUNTED = 150

/** One agent. */
export function agentQuery(id: string) {
  return queryOptions({
    queryKey: ['agent', id],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/agents/{agent_id}', { params: { path: { agent_id: id } }, signal })),
  })
}

/** The tools that are on an agent, also inactive ones, by name. */
export function agentToolsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['agent', id, 'tools'],
    queryFn: ({ pageParam, signal }) => {
      const query = { agent: id, view: 'summary' as const, limit: PAGE_SIZE, cursor: pageParam }
      return unwrap(api.GET('/v1/tools', { params: { query }, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    select: (data) => data.pages.flatMap((page) => page.items as ToolRow[]),
    placeholderData: keepPreviousData,
  })
}

/** The tokens and findings of the tools that a key of the agent gets; of the main providers, or of one dialect. */
export function agentLintQuery(id: string, dialect?: string) {
  return queryOptions({
    queryKey: ['agent', id, 'lint', dialect],
    queryFn: ({ signal }) => {
      const query = { agent: id, for: dialect === undefined ? undefined : [dialect] }
      return unwrap(api.GET('/v1/lint', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })
}

/** The tokens and findings of tools that are chosen but not saved. */
export function chosenLintQuery(ids: string[]) {
  const tool = [...ids].sort()
  return queryOptions({
    queryKey: ['lint', tool],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/lint', { params: { query: { tool } }, signal })),
    enabled: tool.length > 0 && tool.length <= MAX_COUNTED,
    placeholderData: keepPreviousData,
  })
}

/** The declarations of an agent's tools as a model gets them: JSON text, or plain text. */
export function declarationsQuery(id: string, dialect: string, isStrict: boolean) {
  return queryOptions({
    queryKey: ['agent', id, 'declarations', dialect, isStrict],
    queryFn: ({ signal }) => {
      const params = { path: { agent_id: id }, query: { as: dialect, strict: isStrict } }
      return unwrap<string>(api.GET('/v1/agents/{agent_id}/definitions', { params, parseAs: 'text', signal }))
    },
  })
}

/** Add tools to an agent and remove others from it; what was changed elsewhere meanwhile stays. */
export async function changeTools(id: string, add: Iterable<string>, remove: Iterable<string>): Promise<Agent> {
  const params = { path: { agent_id: id } }
  const { tools } = await unwrap(api.GET('/v1/agents/{agent_id}', { params }))
  const removed = new Set(remove)
  const wanted = new Set([...tools.filter((tool) => !removed.has(tool)), ...add])
  return unwrap(api.PATCH('/v1/agents/{agent_id}', { params, body: { tools: [...wanted] } }))
}
