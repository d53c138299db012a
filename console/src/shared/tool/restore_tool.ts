import { api, type Schemas, unwrap } from '../api/client.ts'

/** Restore a deleted tool. */
export async function restoreTool(id: string): Promise<Schemas['ToolResponse']> {
  return unwrap(api.POST('/v1/tools/{ref}/restore', { params: { path: { ref: id } } }))
}
