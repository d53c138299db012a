import { asNode, resolveRef, type SchemaNode } from './schema_node.ts'

const MAX_DEPTH = 6

/** Return arguments that a schema suggests: its example, or else the required parameters by example, default and type. */
export function sampleArguments(schema: unknown): unknown {
  const root = asNode(schema) ?? {}
  const value = sample(root, root, 0)
  return asNode(value) ?? {}
}

/** Return the defaults of the top parameters, which a form starts with. */
export function defaultArguments(schema: unknown): SchemaNode {
  const properties = Object.entries(asNode(asNode(schema)?.properties) ?? {})
  return Object.fromEntries(
    properties.flatMap(([name, value]) => {
      const node = asNode(value)
      return node && 'default' in node ? [[name, node.default]] : []
    }),
  )
}

function sample(node: SchemaNode, root: SchemaNode, depth: number): unknown {
  if (typeof node.$ref === 'string' && depth < MAX_DEPTH)
    return sample(resolveRef(root, node.$ref) ?? {}, root, depth + 1)
  if (Array.isArray(node.examples) && node.examples.length > 0) return node.examples[0]
  if ('example' in node) return node.example
  if ('default' in node) return node.default
  if ('const' in node) return node.const
  if (Array.isArray(node.enum) && node.enum.length > 0) return node.enum[0]
  for (const name of ['oneOf', 'anyOf', 'allOf']) {
    const first = Array.isArray(node[name]) ? asNode(node[name][0]) : undefined
    if (first && depth < MAX_DEPTH) return sample(first, root, depth + 1)
  }
  const type = Array.isArray(node.type) ? node.type[0] : node.type
  if (type === 'object' || node.properties !== undefined) return sampleObject(node, root, depth)
  if (type === 'array') {
    const items = asNode(node.items)
    return items && depth < MAX_DEPTH ? [sample(items, root, depth + 1)] : []
  }
  if (type === 'number' || type === 'integer') return typeof node.minimum === 'number' ? node.minimum : 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  return 'text'
}

function sampleObject(node: SchemaNode, root: SchemaNode, depth: number): SchemaNode {
  const required = Array.isArray(node.required) ? node.required : []
  const properties = Object.entries(asNode(node.properties) ?? {})
  return Object.fromEntries(
    properties.flatMap(([name, value]) => {
      const inner = asNode(value) ?? {}
      const isWanted = required.includes(name) || 'default' in inner || 'examples' in inner
      return isWanted && depth < MAX_DEPTH ? [[name, sample(inner, root, depth + 1)]] : []
    }),
  )
}
