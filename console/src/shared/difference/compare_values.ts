import { isRawNumber } from '../json/exact_json.ts'
import { alignItems } from './align_items.ts'

/** One difference between two JSON values; `path` is such as `config.headers.Accept` or `items[2]`, empty for the whole. */
export interface Difference {
  path: string
  change: 'added' | 'removed' | 'changed'
  before?: unknown
  after?: unknown
}

export interface Comparison {
  differences: Difference[]
  /** Whether there are more differences. */
  isCut: boolean
}

interface Pair {
  path: string
  before: unknown
  after: unknown
}

const ABSENT = Symbol('absent')
const MOST_DIFFERENCES = 200
const MOST_PATH_LENGTH = 400

/** Return the differences of two JSON values field by field, in order; items of lists are matched by their values. */
export function compareValues(before: unknown, after: unknown, limit = MOST_DIFFERENCES): Comparison {
  const differences: Difference[] = []
  const open: Pair[] = [{ path: '', before, after }]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const inner = pairInner(pair)
    if (inner) {
      open.push(...inner.reverse())
      continue
    }
    const found = describe(pair)
    if (!found) continue
    if (differences.length === limit) return { differences, isCut: true }
    differences.push(found)
  }
  return { differences, isCut: false }
}

/** Return the pairs of fields of two objects or items of two lists, or undefined for other values. */
function pairInner({ path, before, after }: Pair): Pair[] | undefined {
  if (Array.isArray(before) && Array.isArray(after)) return pairItems(path, before, after)
  if (!isObject(before) || !isObject(after)) return undefined
  const names = [...Object.keys(before), ...Object.keys(after).filter((name) => !Object.hasOwn(before, name))]
  return names.map((name) => ({
    path: extendPath(path, path === '' ? name : `.${name}`),
    before: Object.hasOwn(before, name) ? before[name] : ABSENT,
    after: Object.hasOwn(after, name) ? after[name] : ABSENT,
  }))
}

function pairItems(path: string, before: unknown[], after: unknown[]): Pair[] {
  const pairs: Pair[] = []
  // Items that are only before, until items that are only after replace them.
  let removed: number[] = []
  const flush = () => {
    for (const place of removed) pairs.push({ path: itemPath(path, place), before: before[place], after: ABSENT })
    removed = []
  }
  for (const item of alignItems(before.map(toText), after.map(toText))) {
    if (item.after === undefined) removed.push(item.before as number)
    else if (item.before !== undefined) flush()
    else {
      const replaced = removed.shift()
      const old = replaced === undefined ? ABSENT : before[replaced]
      pairs.push({ path: itemPath(path, item.after), before: old, after: after[item.after] })
    }
  }
  flush()
  return pairs
}

function describe({ path, before, after }: Pair): Difference | undefined {
  if (before === ABSENT) return { path, change: 'added', after }
  if (after === ABSENT) return { path, change: 'removed', before }
  return toText(before) === toText(after) ? undefined : { path, change: 'changed', before, after }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

function toText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

function itemPath(path: string, place: number): string {
  return extendPath(path, `[${place}]`)
}

/** Return a longer path; a very long one is returned unchanged, because it could not be read. */
function extendPath(path: string, step: string): string {
  return path.length > MOST_PATH_LENGTH ? path : path + step
}
