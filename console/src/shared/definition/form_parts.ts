import { fitSchema } from '../form/fit_schema.ts'
import { asNode, type SchemaNode } from '../form/schema_node.ts'
import { openFields } from './form_values.ts'

/** A part of the form of a definition. */
export interface FormPart {
  /** The schema of its fields; undefined if it has none. */
  schema: SchemaNode | undefined
  /** How rjsf shows the fields. */
  ui: SchemaNode
  /** The parts that have to be written as YAML, each with the reason. */
  left: string[]
}

export interface FormParts {
  main: FormPart
  more: FormPart
  /** The schema of the whole definition, with its defaults. */
  whole: SchemaNode
}

const MAIN = ['name', 'description', 'config', 'input_schema', 'is_public', 'is_active', 'tags']
// The kind is chosen before the form.
const NOT_IN_FORM = ['tool_type']
const SECRET_MAPS = ['headers', 'env']
const LONG_TEXTS = ['description', 'command']
const TYPES = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'properties', 'items']

/** Return the parts of the form of a definition of this kind. */
export function buildFormParts(definition: SchemaNode, config: SchemaNode, kind: string): FormParts {
  const fields = Object.keys(asNode(definition.properties) ?? {}).filter((name) => !NOT_IN_FORM.includes(name))
  const properties = { ...asNode(definition.properties), config: nest(config) }
  const whole = { ...definition, properties, $defs: { ...asNode(definition.$defs), ...asNode(config.$defs) } }
  const main = MAIN.filter((name) => fields.includes(name))
  const more = fields.filter((name) => !main.includes(name))
  return { main: buildPart(whole, main, kind), more: buildPart(whole, more, kind), whole }
}

function nest(config: SchemaNode): SchemaNode {
  const { $defs: _defs, title: _title, description: _description, ...own } = config
  return own
}

function buildPart(whole: SchemaNode, names: string[], kind: string): FormPart {
  const all = asNode(whole.properties) ?? {}
  const properties = Object.fromEntries(names.map((name) => [name, all[name]]))
  const required = (Array.isArray(whole.required) ? whole.required : []).filter((name) => names.includes(name))
  const { schema, left } = fitSchema(simplify({ type: 'object', properties, required, $defs: whole.$defs }))
  const ui = schema ? describeFields(schema, [], kind) : {}
  return { schema: schema && openFields(schema, ui), ui, left }
}

/** Return the schema without choices of null, which a field leaves out, and without titles made of names. */
export function simplify(node: SchemaNode): SchemaNode {
  const choices = Array.isArray(node.anyOf) ? node.anyOf.filter((each) => asNode(each)?.type !== 'null') : []
  const { anyOf: _anyOf, ...beside } = node
  const own = Array.isArray(node.anyOf) && choices.length === 1 ? { ...asNode(choices[0]), ...beside } : node
  const simple: SchemaNode = {}
  for (const [name, value] of Object.entries(own)) {
    if (name === 'title' && typeof value === 'string') continue
    if (name === 'default' && value === null) continue
    if (['properties', '$defs', 'definitions'].includes(name)) simple[name] = mapNodes(value)
    else if (Array.isArray(value) && ['anyOf', 'oneOf', 'allOf'].includes(name)) {
      simple[name] = value.map((each) => (asNode(each) ? simplify(each) : each))
    } else if (asNode(value) && ['items', 'additionalProperties'].includes(name)) {
      simple[name] = simplify(value as SchemaNode)
    } else simple[name] = value
  }
  return simple
}

function mapNodes(value: unknown): SchemaNode {
  const nodes = Object.entries(asNode(value) ?? {})
  return Object.fromEntries(nodes.map(([name, node]) => [name, asNode(node) ? simplify(node as SchemaNode) : node]))
}

function describeFields(node: SchemaNode, path: string[], kind: string): SchemaNode {
  const [name = '', outer] = [path.at(-1), path.at(-2)]
  if (kind === 'python' && path.join('.') === 'config.code') return { 'ui:field': 'python' }
  if (outer === 'config' && SECRET_MAPS.includes(name)) return { additionalProperties: { 'ui:widget': 'secret' } }
  if (takesAny(node)) return { 'ui:field': 'json' }
  if (LONG_TEXTS.includes(name) && node.type === 'string') return { 'ui:widget': 'textarea' }
  const ui: SchemaNode = {}
  for (const [inner, value] of Object.entries(asNode(node.properties) ?? {})) {
    const described = describeFields(asNode(value) ?? {}, [...path, inner], kind)
    if (Object.keys(described).length > 0) ui[inner] = described
  }
  for (const part of ['items', 'additionalProperties']) {
    const inner = asNode(node[part])
    if (inner) ui[part] = describeFields(inner, [...path, part], kind)
  }
  return ui
}

/** Return whether a value of the schema may be anything, or any object, which a field of JSON shows. */
function takesAny(node: SchemaNode): boolean {
  if (node.type === 'object') return node.properties === undefined && !asNode(node.additionalProperties)
  return !TYPES.some((name) => name in node)
}
