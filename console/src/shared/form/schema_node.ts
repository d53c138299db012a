/** A JSON Schema from another author: any value may be anywhere. */
export type SchemaNode = Record<string, unknown>

/** Return the value as an object that is no array, or undefined. */
export function asNode(value: unknown): SchemaNode | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SchemaNode) : undefined
}

/** Return the schema that a local `$ref` (`#/definitions/Node`) names, or undefined. */
export function resolveRef(root: SchemaNode, ref: unknown): SchemaNode | undefined {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined
  let node: unknown = root
  for (const step of ref.slice(1).split('/').filter(Boolean)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined
    node = (node as SchemaNode)[name]
  }
  return asNode(node)
}
