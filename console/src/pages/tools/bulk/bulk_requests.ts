import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'

/** A tool of the list. */
export type Tool = Schemas['ToolSummary']

export async function setActive(tool: Tool, isActive: boolean): Promise<void> {
  await unwrap(api.PATCH('/v1/tools/{ref}', { params: { path: { ref: tool.id } }, body: { is_active: isActive } }))
}

export async function deleteTool(tool: Tool): Promise<void> {
  await unwrap(api.DELETE('/v1/tools/{ref}', { params: { path: { ref: tool.id } } }))
}

/** Add and remove tags; a row of the list may lack some tags, so the tool is read first. */
export async function changeTags(tool: Tool, added: string[], removed: string[]): Promise<void> {
  const params = { path: { ref: tool.id } }
  const { tags = [], version } = await unwrap(api.GET('/v1/tools/{ref}', { params }))
  const kept = tags.filter((tag) => !removed.includes(tag))
  const next = [...kept, ...added.filter((tag) => !kept.includes(tag))]
  await unwrap(api.PATCH('/v1/tools/{ref}', { params, body: { tags: next, version } }))
}

/** Give an agent these tools too. */
export async function addToAgent(agentId: string, tools: readonly Tool[]): Promise<Schemas['AgentResponse']> {
  const params = { path: { agent_id: agentId } }
  const { tools: before } = await unwrap(api.GET('/v1/agents/{agent_id}', { params }))
  const ids = [...new Set([...before, ...tools.map((tool) => tool.id)])]
  return unwrap(api.PATCH('/v1/agents/{agent_id}', { params, body: { tools: ids } }))
}
