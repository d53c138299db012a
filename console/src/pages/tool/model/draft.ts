import type { Schemas } from '../../../shared/api/client.ts'
import { compareValues } from '../../../shared/difference/compare_values.ts'
import { formatJson, parseExactly } from '../../../shared/json/exact_json.ts'

export type Tool = Schemas['ToolResponse']

/** What is typed, and the version of the tool that it started from. */
export interface Draft {
  base: Tool
  name: string
  description: string
  /** JSON text. */
  schema: string
}

export const PARTS = ['name', 'description', 'input_schema'] as const
export type Part = (typeof PARTS)[number]

// Beside them, what else a declaration is made of.
const DECLARED = [...PARTS, 'display_name', 'output_schema', 'read_only', 'destructive', 'idempotent', 'tags'] as const

/** Return a draft without changes. */
export function startDraft(tool: Tool): Draft {
  return { base: tool, name: tool.name, description: tool.description ?? '', schema: formatJson(tool.input_schema) }
}

/** Return what the draft changes in its tool, or what is wrong with the text of the schema. */
export function readChanges(draft: Draft): { changes: Partial<Tool>; fault?: string } {
  let schema: unknown
  try {
    schema = parseExactly(draft.schema)
  } catch (error) {
    return { changes: {}, fault: `Not valid JSON: ${(error as Error).message}` }
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    return { changes: {}, fault: 'A schema is one JSON object, such as {"type": "object", "properties": {}}' }
  }
  const { base } = draft
  const description = draft.description === '' ? null : draft.description
  return {
    changes: {
      ...(draft.name !== base.name && { name: draft.name }),
      ...(draft.description !== (base.description ?? '') && { description }),
      ...(isChanged(base.input_schema, schema) && { input_schema: schema as Tool['input_schema'] }),
    },
  }
}

/** Return the part of the definition that models get, with the changes. */
export function declaredPart(tool: Tool, changes: Partial<Tool>): Record<string, unknown> {
  const whole = { ...tool, ...changes }
  return Object.fromEntries(DECLARED.map((field) => [field, whole[field]]))
}

/** Return the draft on a newer version of its tool: what it changes stays, everything else is of the newer version. */
export function moveDraft(draft: Draft, tool: Tool): Draft {
  const [old, now] = [startDraft(draft.base), startDraft(tool)]
  return {
    base: tool,
    name: draft.name === old.name ? now.name : draft.name,
    description: draft.description === old.description ? now.description : draft.description,
    schema: draft.schema === old.schema ? now.schema : draft.schema,
  }
}

/** Return what another version of the tool changed in the definition that a draft started from. */
export function compareVersions(before: Tool, after: Tool) {
  return compareValues(withoutState(before), withoutState(after))
}

/** Return the faults of a refused definition by the part that they are about. */
export function placeFaults(faults: { field: string; message: string }[]): Partial<Record<Part, string>> {
  const placed: Partial<Record<Part, string>> = {}
  for (const { field, message } of faults) {
    const part = PARTS.find((each) => new RegExp(`(^|\\s)${each}\\b`).test(field))
    if (part) placed[part] = placed[part] === undefined ? message : `${placed[part]}; ${message}`
  }
  return placed
}

function isChanged(before: unknown, after: unknown): boolean {
  return compareValues(before, after, 1).differences.length > 0
}

function withoutState({ version: _version, updated_at: _updated, created_at: _created, ...definition }: Tool) {
  return definition
}
