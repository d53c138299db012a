import { asNode, resolveRef, type SchemaNode } from '../form/schema_node.ts'
import { isRawNumber } from '../json/exact_json.ts'
import { setOwn } from '../json/set_own.ts'

export type Definition = Record<string, unknown>

// The order in which people write a definition.
const FIRST = ['name', 'display_name', 'description', 'tool_type', 'config', 'input_schema']

/** Return the definition of a tool without fields that have their default; secrets stay masked. */
export function toDefinition(tool: object, schema: SchemaNode): Definition {
  const fields = Object.keys(asNode(schema.properties) ?? {})
  const own = Object.fromEntries(
    fields.flatMap((name) => {
      const value = (tool as Definition)[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const short = dropDefaults(own, schema, schema)
  const names = [...FIRST.filter((name) => Object.hasOwn(short, name)), ...Object.keys(short)]
  return Object.fromEntries([...new Set(names)].map((name) => [name, short[name]]))
}

/** Return the value of a form without members that it filled in by itself; those that `previous` has are kept. */
export function dropFilledIn(value: Definition, schema: SchemaNode, previous: Definition): Definition {
  return dropDefaults(value, schema, schema, previous)
}

/** Drop members that have their default. Without `previous`, an object of defaults alone stays whole. */
function dropDefaults(value: Definition, schema: SchemaNode, root: SchemaNode, previous?: SchemaNode): Definition {
  const kept: Definition = {}
  const properties = asNode(schema.properties) ?? {}
  for (const [name, member] of Object.entries(value)) {
    const node = asNode(properties[name])
    const old = previous && Object.hasOwn(previous, name) ? previous[name] : undefined
    if (member === undefined) continue
    if (node && 'default' in node && old === undefined && isSame(member, node.default)) continue
    const inner = findObject(node, root)
    const object = isRawNumber(member) ? undefined : asNode(member)
    if (!inner || !object) {
      setOwn(kept, name, member)
      continue
    }
    const short = dropDefaults(object, inner, root, previous && (asNode(old) ?? {}))
    const isWanted = (Array.isArray(schema.required) && schema.required.includes(name)) || isSame(old, {})
    if (Object.keys(short).length > 0) setOwn(kept, name, short)
    else if (!previous) setOwn(kept, name, object)
    else if (isWanted) setOwn(kept, name, {})
  }
  return kept
}

/** Return the change that makes one definition the other: new values, and null for fields that are gone. */
export function makeChange(before: Definition, after: Definition): Definition {
  const change: Definition = {}
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) change[name] = null
  for (const [name, value] of Object.entries(after)) {
    if (!Object.hasOwn(before, name) || !isSame(before[name], value)) setOwn(change, name, value)
  }
  return change
}

/** Return their definition with one's own changes: where both changed the same value, one's own. */
export function mergeChanges(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (isSame(mine, base)) return theirs
  if (isSame(theirs, base)) return mine
  const [before, own, other] = [asNode(base), asNode(mine), asNode(theirs)]
  if (!before || !own || !other) return mine
  const merged: Definition = {}
  for (const name of new Set([...Object.keys(other), ...Object.keys(own)])) {
    const [a, b, c] = [before, own, other].map((each) => (Object.hasOwn(each, name) ? each[name] : undefined))
    const value = mergeChanges(a, b, c)
    if (value !== undefined) setOwn(merged, name, value)
  }
  return merged
}

/** Return whether two JSON values are equal, digit for digit; the order of members does not count. */
export function isSame(one: unknown, other: unknown): boolean {
  return sortedText(one) === sortedText(other)
}

function sortedText(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, inner) => {
    const object = isRawNumber(inner) ? undefined : asNode(inner)
    if (!object) return inner
    const sorted: Definition = {}
    for (const name of Object.keys(object).sort()) setOwn(sorted, name, object[name])
    return sorted
  })
}

/** Return the schema of an object that a property may be: itself, its reference, or its choice beside null. */
function findObject(node: SchemaNode | undefined, root: SchemaNode): SchemaNode | undefined {
  if (!node) return undefined
  if (asNode(node.properties)) return node
  const found = resolveRef(root, node.$ref)
  if (found) return findObject(found, root)
  const choices = Array.isArray(node.anyOf) ? node.anyOf.map(asNode).filter((each) => each?.type !== 'null') : []
  return choices.length === 1 ? findObject(choices[0], root) : undefined
}
