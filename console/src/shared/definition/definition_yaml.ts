import { Document, isMap, isScalar, type Node, type Pair, parseDocument, type ToStringOptions } from 'yaml'
import { isRawNumber } from '../json/exact_json.ts'
import { RAW_NUMBER, readKey, readValue, YamlFault } from './yaml_value.ts'

export interface TextPlace {
  from: number
  to: number
}

/** A fault of the text between two offsets. */
export interface YamlTextFault extends TextPlace {
  message: string
}

export interface ParsedYaml {
  /** The value; undefined if the text has a fault. */
  value: Record<string, unknown> | undefined
  faults: YamlTextFault[]
}

const MAX_CHARACTERS = 1_000_000
const MAX_FAULTS = 20
const READ = { version: '1.2', prettyErrors: false, uniqueKeys: true } as const
const MAKE = { version: '1.2', compat: 'yaml-1.1', aliasDuplicateObjects: false, customTags: addRawNumber } as const
const WRITE: ToStringOptions = { lineWidth: 110, blockQuote: 'literal' }

/** Parse the YAML of one definition; JSON is YAML too. */
export function parseYaml(text: string): ParsedYaml {
  if (text.length > MAX_CHARACTERS) {
    const message = `longer than ${MAX_CHARACTERS.toLocaleString('en')} characters`
    return { value: undefined, faults: [{ from: 0, to: 0, message }] }
  }
  const document = parseDocument(text, READ)
  if (document.errors.length > 0) {
    const faults = document.errors
      .slice(0, MAX_FAULTS)
      .map(({ message, pos }) => ({ from: pos[0], to: pos[1], message }))
    return { value: undefined, faults }
  }
  try {
    const value = readValue(document)
    if (!isObject(value)) {
      const message = 'a definition is one mapping, with name, tool_type and config'
      return { value: undefined, faults: [{ from: 0, to: text.length, message }] }
    }
    return { value, faults: [] }
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    return { value: undefined, faults: [{ from: error.from, to: error.to, message: error.message }] }
  }
}

/** Return the value as YAML that `pegboard apply` reads. */
export function writeYaml(value: unknown): string {
  return new Document(value, MAKE).toString(WRITE)
}

/** Return the text with another value, and the comments of the parts that stay as they are. */
export function updateYaml(text: string, after: Record<string, unknown>): string {
  const before = parseYaml(text).value
  if (before === undefined) return writeYaml(after)
  const document = parseDocument(text, { ...READ, ...MAKE, keepSourceTokens: false })
  applyChanges(document, [], before, after)
  const updated = document.toString(WRITE)
  return JSON.stringify(parseYaml(updated).value) === JSON.stringify(after) ? updated : writeYaml(after)
}

function applyChanges(
  document: Document,
  path: string[],
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): void {
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) document.deleteIn([...path, name])
  for (const [name, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, name) ? before[name] : undefined
    if (JSON.stringify(old) === JSON.stringify(value)) continue
    if (isObject(old) && isObject(value) && Object.keys(old).length > 0) {
      applyChanges(document, [...path, name], old, value)
    } else document.setIn([...path, name], document.createNode(value))
  }
}

/** Return where the text has the value of a path, or the part around it if there is none. */
export function findPlace(text: string, path: string[]): TextPlace {
  let node: Node | null = parseDocument(text, READ).contents
  let place: TextPlace = { from: 0, to: firstLineEnd(text) }
  for (const step of path) {
    if (isMap(node)) {
      const pair = (node.items as Pair<Node, Node | null>[]).find(({ key }) => isScalar(key) && readKey(key) === step)
      if (!pair) break
      place = { from: pair.key.range?.[0] ?? place.from, to: lineEnd(text, pair.key.range?.[1] ?? place.to) }
      node = pair.value
      continue
    }
    const item: unknown = (node as { items?: unknown[] } | null)?.items?.[Number(step)]
    if (item === undefined) break
    node = item as Node
    if (node.range) place = { from: node.range[0], to: Math.min(node.range[1], lineEnd(text, node.range[0])) }
  }
  return place
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

function firstLineEnd(text: string): number {
  return lineEnd(text, 0)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

function addRawNumber<T>(tags: readonly T[]): T[] {
  return [RAW_NUMBER as T, ...tags]
}
