import type { CheckReport } from './imports_query.ts'

export type ChangedKind = 'tool' | 'prompt' | 'resource' | 'resource template'

/** Something that a server has changed since it was accepted. */
export interface Change {
  kind: ChangedKind
  name: string
  /** The values of the changed fields. */
  before: Record<string, unknown>
  after: Record<string, unknown>
  /** The digest of the new definition, so that no other one is accepted. */
  digest: string | undefined
  /** Whether the server no longer lists it. */
  isGone: boolean
}

type Fields = Record<string, unknown>
type EntryChanges = NonNullable<CheckReport['prompts']>

/** Return what a check found that can be accepted: changed tools, then changed and missing entries. */
export function listChanges(report: CheckReport): Change[] {
  const tools = report.drifted.map((name) => readToolChange(name, report.changes[name] ?? {}))
  return [
    ...tools,
    ...listEntries('prompt', report.prompts),
    ...listEntries('resource', report.resources),
    ...listEntries('resource template', report.resource_templates),
  ]
}

/** Return the change of a tool; its digest is no field to review. */
export function readToolChange(name: string, fields: Fields): Change {
  const { before, after } = splitSides(fields)
  const digest = asFields(after.config).pinned
  for (const side of [before, after]) {
    if (side.config !== undefined) side.config = { ...asFields(side.config), pinned: undefined }
  }
  return { kind: 'tool', name, before, after, digest: typeof digest === 'string' ? digest : undefined, isGone: false }
}

function listEntries(kind: ChangedKind, changes: EntryChanges | null | undefined): Change[] {
  if (!changes) return []
  const changed = changes.drifted.map((name) => ({
    kind,
    name,
    ...splitSides(changes.changes[name] ?? {}),
    digest: changes.digests[name],
    isGone: false,
  }))
  const gone = changes.gone.map((name) => ({ kind, name, before: {}, after: {}, digest: undefined, isGone: true }))
  return [...changed, ...gone]
}

/** Return the values before and after of fields that are `{before, after}`. */
export function splitSides(fields: Fields): { before: Fields; after: Fields } {
  const sides = { before: {} as Fields, after: {} as Fields }
  for (const [name, field] of Object.entries(fields)) {
    sides.before[name] = asFields(field).before
    sides.after[name] = asFields(field).after
  }
  return sides
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
