import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client.ts'
import { asNode, type SchemaNode } from '../form/schema_node.ts'
import { parseExactly } from '../json/exact_json.ts'
import { type Definition, toDefinition } from './definition_values.ts'
import type { SavedDefinition } from './use_definition.ts'

/** A tool with all digits of its numbers. */
export function exactToolQuery(id: string) {
  return queryOptions({
    queryKey: ['tool', id, 'exact'],
    queryFn: async ({ signal }) => {
      const request = api.GET('/v1/tools/{ref}', { params: { path: { ref: id } }, parseAs: 'text', signal })
      return parseExactly((await unwrap(request)) as string) as Schemas['ToolResponse']
    },
  })
}

/** Return the definition of a tool as it is saved. */
export function readSaved(tool: Schemas['ToolResponse'], schema: unknown): SavedDefinition {
  return { version: tool.version, definition: toDefinition(tool, asNode(schema) as SchemaNode) }
}

/** Register a tool, or only check its definition. */
export async function registerTool(definition: Definition, dryRun: boolean): Promise<Schemas['ToolResponse']> {
  // The server checks the fields, whatever the types say.
  const body = definition as Schemas['ToolCreate']
  return unwrap(api.POST('/v1/tools', { params: { query: { dry_run: dryRun } }, body }))
}

/** Change a tool, or only check the change. */
export async function changeTool(id: string, change: Definition, dryRun: boolean): Promise<Schemas['ToolResponse']> {
  const params = { path: { ref: id }, query: { dry_run: dryRun } }
  const request = api.PATCH('/v1/tools/{ref}', { params, body: change as Schemas['ToolUpdate'], parseAs: 'text' })
  return parseExactly((await unwrap(request)) as string) as Schemas['ToolResponse']
}
