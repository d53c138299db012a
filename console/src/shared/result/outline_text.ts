import { isRawNumber } from '../json/exact_json.ts'

const MAX_LINES = 2000

/** Return a value as lines of text: `name: value`, indented; texts as they are. */
export function outlineText(value: unknown): string {
  if (typeof value === 'string') return value
  const lines: string[] = []
  addLines(lines, value, 0)
  if (lines.length > MAX_LINES) return `${lines.slice(0, MAX_LINES).join('\n')}\n… cut; JSON has all of it`
  return lines.join('\n')
}

/** Return a value that is no object and no list as text, or undefined. */
export function scalarText(value: unknown): string | undefined {
  if (isRawNumber(value)) return value.rawJSON
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null ? undefined : String(value)
}

function addLines(lines: string[], value: unknown, depth: number): void {
  if (lines.length > MAX_LINES) return
  const pad = '  '.repeat(depth)
  const text = scalarText(value)
  if (text !== undefined) {
    lines.push(`${pad}${text}`)
    return
  }
  const entries = Object.entries(value as object)
  if (entries.length === 0) lines.push(`${pad}(empty)`)
  for (const [name, each] of entries) {
    const label = Array.isArray(value) ? '-' : `${name}:`
    const inner = scalarText(each)
    if (inner !== undefined) lines.push(`${pad}${label} ${inner.replaceAll('\n', `\n${pad}  `)}`)
    else {
      lines.push(`${pad}${label}`)
      addLines(lines, each, depth + 1)
    }
  }
}
