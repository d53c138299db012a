const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const SPACE = /[ \t\n\r]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** What may come next: the browser's own message does not always have the place of a fault. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end'

/** Return the offset at which a text stops being JSON, or undefined if it is valid. */
export function findJsonFault(text: string): number | undefined {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = skip(SPACE, text, 0)
  for (;;) {
    const isDone = open.length === 0 && expected === 'comma or end'
    if (at >= text.length) return isDone ? undefined : text.length
    if (isDone) return at
    const character = text.charAt(at)
    const isEnd = character === (open.at(-1) === '{' ? '}' : ']') && expected.endsWith('or end')
    let end = at + 1
    if (isEnd && open.length > 0) {
      open.pop()
      expected = 'comma or end'
    } else if (expected.startsWith('comma')) {
      if (character !== ',') return at
      expected = open.at(-1) === '{' ? 'key' : 'value'
    } else if (expected === 'colon') {
      if (character !== ':') return at
      expected = 'value'
    } else if (character === '"') {
      const { isClosed, stop } = skipString(text, at)
      if (!isClosed) return stop
      end = stop
      expected = expected.startsWith('key') ? 'colon' : 'comma or end'
    } else if (expected.startsWith('key')) {
      return at
    } else if (character === '{' || character === '[') {
      open.push(character)
      expected = character === '{' ? 'key or end' : 'value or end'
    } else {
      end = skip(SCALAR, text, at)
      if (end === at) return at
      expected = 'comma or end'
    }
    at = skip(SPACE, text, end)
  }
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** Return where a string ends, or what is wrong in it. */
function skipString(text: string, start: number): { isClosed: boolean; stop: number } {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return { isClosed: true, stop: at + 1 }
    if (code < 0x20) return { isClosed: false, stop: at }
    const next = code === 0x5c ? skip(ESCAPE, text, at) : at + 1
    if (next === at) return { isClosed: false, stop: at }
    at = next
  }
  return { isClosed: false, stop: at }
}
