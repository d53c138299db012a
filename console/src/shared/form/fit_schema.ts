import { spellHidden } from '../text/visible_text.ts'
import { asNode, resolveRef, type SchemaNode } from './schema_node.ts'

const MAX_FIELDS = 60
const MAX_DEPTH = 6
/** What a form cannot show, with the words for it. */
const UNSUPPORTED = {
  patternProperties: 'names by pattern',
  not: 'what it must not be',
  propertyNames: 'rules for names',
  dependentSchemas: 'parts that depend on others',
}
const TEXTS = ['title', 'description'] as const

export interface FittedSchema {
  /** The schema of the form, or undefined if no part of the schema fits into one. */
  schema: SchemaNode | undefined
  /** The parts that have to be written as JSON, each with the reason. */
  left: string[]
}

/** Return the part of a schema that a form can show: references resolved, texts made visible, size bounded. */
export function fitSchema(schema: unknown): FittedSchema {
  const root = asNode(schema)
  if (!root) return { schema: undefined, left: ['The schema declares no parameters'] }
  const fitter = new SchemaFitter(root)
  const fitted = fitter.fit(root, '', [])
  const { title: _title, description: _description, ...rest } = fitted ?? {}
  const isObject = rest.type === undefined || rest.type === 'object'
  const hasFields =
    Object.keys(asNode(rest.properties) ?? {}).length > 0 || 'oneOf' in rest || 'anyOf' in rest || 'allOf' in rest
  if (!isObject || !hasFields) {
    const takesMore = root.additionalProperties !== false && root.properties === undefined
    return { schema: undefined, left: takesMore || fitter.left.length > 0 ? fitter.left : [] }
  }
  return { schema: { ...rest, type: 'object' }, left: fitter.left }
}

class SchemaFitter {
  readonly left: string[] = []
  private fields = 0
  private readonly root: SchemaNode

  constructor(root: SchemaNode) {
    this.root = root
  }

  /** Return the part of a schema that fits, or undefined and a reason in `left`. */
  fit(node: SchemaNode, path: string, refs: string[]): SchemaNode | undefined {
    if (typeof node.$ref === 'string') return this.fitReference(node, node.$ref, path, refs)
    if (path.split(/[.[]/).length > MAX_DEPTH) return this.leave(path, 'too deep for a form')
    const fitted: SchemaNode = {}
    for (const [name, value] of Object.entries(node)) {
      if (['$defs', 'definitions', '$schema', '$id', 'id', '$comment'].includes(name)) continue
      if (name in UNSUPPORTED) this.leave(path, UNSUPPORTED[name as keyof typeof UNSUPPORTED])
      else fitted[name] = value
    }
    for (const name of TEXTS) {
      if (typeof fitted[name] === 'string') fitted[name] = spellHidden(fitted[name])
      else delete fitted[name]
    }
    this.fitProperties(fitted, path, refs)
    this.fitItems(fitted, path, refs)
    for (const name of ['oneOf', 'anyOf', 'allOf']) this.fitChoices(fitted, name, path, refs)
    if (asNode(fitted.additionalProperties)) {
      const inner = this.fit(fitted.additionalProperties as SchemaNode, `${path}.*`, refs)
      if (inner) fitted.additionalProperties = inner
      else delete fitted.additionalProperties
    }
    return fitted
  }

  private fitReference(node: SchemaNode, ref: string, path: string, refs: string[]): SchemaNode | undefined {
    const target = resolveRef(this.root, ref)
    if (!target) return this.leave(path, 'a reference that leads nowhere')
    if (refs.includes(ref) || target === this.root) return this.leave(path, 'it refers to itself')
    const { $ref: _ref, ...beside } = node
    return this.fit({ ...target, ...beside }, path, [...refs, ref])
  }

  private fitProperties(fitted: SchemaNode, path: string, refs: string[]): void {
    if (!('properties' in fitted)) return
    const properties: SchemaNode = {}
    let tooMany = 0
    for (const [name, value] of Object.entries(asNode(fitted.properties) ?? {})) {
      const inner = path ? `${path}.${name}` : name
      if (this.fields >= MAX_FIELDS) {
        tooMany += 1
        continue
      }
      this.fields += 1
      if (name === '__proto__') {
        this.leave(inner, 'a form cannot hold this name')
        continue
      }
      const property = value === true ? undefined : this.fit(asNode(value) ?? {}, inner, refs)
      if (value === true) this.leave(inner, 'any value')
      if (property) {
        const title = typeof property.title === 'string' && property.title ? property.title : spellHidden(name)
        Object.defineProperty(properties, name, {
          value: { ...property, title },
          enumerable: true,
          configurable: true,
          writable: true,
        })
      }
    }
    if (tooMany > 0) this.leave(path, `${tooMany} more parameters`)
    fitted.properties = properties
    if (!Array.isArray(fitted.required)) delete fitted.required
  }

  private fitItems(fitted: SchemaNode, path: string, refs: string[]): void {
    const items = asNode(fitted.items)
    if (!items) return
    const inner = this.fit(items, `${path}[]`, refs)
    if (inner) fitted.items = inner
    else delete fitted.items
  }

  private fitChoices(fitted: SchemaNode, name: string, path: string, refs: string[]): void {
    const choices = fitted[name]
    if (!Array.isArray(choices)) {
      delete fitted[name]
      return
    }
    const types = new Set([fitted, ...choices].flatMap((each) => asNode(each)?.type ?? []))
    if (name === 'allOf' && types.size > 1) {
      delete fitted[name]
      this.leave(path, 'rules that may exclude each other')
      return
    }
    const before = this.fields
    fitted[name] = choices.flatMap((choice) => {
      this.fields = before
      const inner = this.fit(asNode(choice) ?? {}, path, refs)
      return inner ? [inner] : []
    })
  }

  private leave(path: string, reason: string): undefined {
    const text = path ? `${spellHidden(path)}: ${reason}` : reason
    if (!this.left.includes(text)) this.left.push(text)
    return undefined
  }
}
