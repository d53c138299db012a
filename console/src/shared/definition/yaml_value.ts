import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar } from 'yaml'
import { isRawNumber, parseExactly } from '../json/exact_json.ts'
import { setOwn } from '../json/set_own.ts'

// The limits of the server.
const MAX_DEPTH = 100
const MAX_VALUES = 200_000
const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/

/** What YAML text has that a definition cannot have, between two offsets of the text. */
export class YamlFault extends Error {
  readonly from: number
  readonly to: number

  constructor(message: string, node: Node) {
    super(message)
    this.from = node.range?.[0] ?? 0
    this.to = node.range?.[1] ?? this.from
  }
}

/** Return the value of a document as JSON has it, with all digits of numbers; throw YamlFault. */
export function readValue(document: Document.Parsed): unknown {
  return document.contents ? new ValueReader(document).read(document.contents, 0) : null
}

class ValueReader {
  #left = MAX_VALUES
  readonly #document: Document.Parsed

  constructor(document: Document.Parsed) {
    this.#document = document
  }

  read(node: Node, depth: number): unknown {
    this.#left -= 1
    if (this.#left < 0) throw new YamlFault(`more than ${MAX_VALUES.toLocaleString('en')} values`, node)
    if (depth > MAX_DEPTH) throw new YamlFault(`nested more than ${MAX_DEPTH} levels deep`, node)
    if (isAlias(node)) {
      const target = node.resolve(this.#document)
      if (!target) throw new YamlFault(`the alias *${node.source} has no anchor before it`, node)
      return this.read(target, depth + 1)
    }
    if (node.tag !== undefined) throw new YamlFault('tags are not accepted; quote the value if it is a text', node)
    if (isScalar(node)) return readScalar(node)
    if (isSeq(node)) return node.items.map((item) => this.read(item as Node, depth + 1))
    if (isMap(node)) return this.#readMap(node.items as Pair<Node, Node | null>[], depth)
    return null
  }

  #readMap(pairs: Pair<Node, Node | null>[], depth: number): Record<string, unknown> {
    const whole: Record<string, unknown> = {}
    const merged: [string, unknown][] = []
    for (const { key, value } of pairs) {
      if (!isScalar(key)) throw new YamlFault('a key must be a plain text', key)
      const read = value ? this.read(value, depth + 1) : null
      if (key.source === '<<' && key.type === 'PLAIN') {
        for (const each of Array.isArray(read) ? read : [read]) merged.push(...Object.entries(each ?? {}))
      } else setOwn(whole, readKey(key), read)
    }
    for (const [name, value] of merged) if (!Object.hasOwn(whole, name)) setOwn(whole, name, value)
    return whole
  }
}

/** Return a key as text, as the server reads it. */
export function readKey(key: Scalar): string {
  return key.source ?? String(key.value)
}

function readScalar(node: Scalar): unknown {
  const { value, source } = node
  if (typeof value !== 'number') return value
  if (!Number.isFinite(value)) throw new YamlFault(`${source} is not a number in JSON`, node)
  return source !== undefined && JSON_NUMBER.test(source) ? parseExactly(source) : value
}

/** Writes a number with all its digits. */
export const RAW_NUMBER = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^$(?!$)/,
  identify: isRawNumber,
  resolve: (text: string) => text,
  stringify: ({ value }: Scalar) => (value as { rawJSON: string }).rawJSON,
} as const
