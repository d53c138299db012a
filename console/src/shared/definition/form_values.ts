import { asNode, type SchemaNode } from '../form/schema_node.ts'
import { formatJson, isRawNumber, parseExactly } from '../json/exact_json.ts'
import { setOwn } from '../json/set_own.ts'

/** Return the value for a form: what fields of JSON show is text, which the form neither merges nor rounds. */
export function toFormValue(value: unknown, ui: SchemaNode): unknown {
  return mapFields(value, ui, formatJson)
}

/** Return the value of a form that `toFormValue` has made, or that was changed since. */
export function fromFormValue(value: unknown, ui: SchemaNode): unknown {
  return mapFields(value, ui, (text) => (typeof text === 'string' ? parseExactly(text) : text))
}

function mapFields(value: unknown, ui: SchemaNode, change: (value: unknown) => unknown): unknown {
  if (value === undefined) return undefined
  if (ui['ui:field'] === 'json') return change(value)
  const items = asNode(ui.items)
  if (Array.isArray(value)) return items ? value.map((item) => mapFields(item, items, change)) : value
  const object = isRawNumber(value) ? undefined : asNode(value)
  if (!object) return value
  const mapped: SchemaNode = {}
  for (const [name, inner] of Object.entries(object)) {
    const described = asNode(Object.hasOwn(ui, name) ? ui[name] : ui.additionalProperties)
    setOwn(mapped, name, described ? mapFields(inner, described, change) : inner)
  }
  return mapped
}

/** Return the schema of the form, where a field of JSON takes any text. */
export function openFields(schema: SchemaNode, ui: SchemaNode): SchemaNode {
  if (ui['ui:field'] === 'json') return { title: schema.title, description: schema.description }
  const opened = { ...schema }
  const properties = asNode(schema.properties)
  if (properties) {
    const inner: SchemaNode = {}
    for (const [name, node] of Object.entries(properties)) {
      const described = asNode(ui[name])
      setOwn(inner, name, described && asNode(node) ? openFields(node as SchemaNode, described) : node)
    }
    opened.properties = inner
  }
  for (const part of ['items', 'additionalProperties']) {
    const [node, described] = [asNode(schema[part]), asNode(ui[part])]
    if (node && described) opened[part] = openFields(node, described)
  }
  return opened
}
