import { findJsonFault } from '../../shared/json/find_json_fault.ts'

/** Where the text of a payload stops being JSON. */
export interface PlacedFault {
  from: number
  to: number
  message: string
  line: number
  column: number
}

/** Return the media type to send a payload with: JSON if it is, else text, such as a stream or what a model wrote. */
export function findMediaType(text: string): 'application/json' | 'text/plain' {
  return findJsonFault(text) === undefined ? 'application/json' : 'text/plain'
}

/** Return where a text that was meant as one JSON value is not valid, or undefined. */
export function placeFault(text: string): PlacedFault | undefined {
  const from = looksLikeJson(text) ? findJsonFault(text) : undefined
  if (from === undefined) return undefined
  const before = text.slice(0, from)
  const line = before.split('\n').length
  const column = from - before.lastIndexOf('\n')
  return { from, to: Math.min(text.length, from + 1), message: 'Not valid JSON from here', line, column }
}

/** Return whether a text begins like a JSON value, and its second line does not: then it is lines of JSON. */
function looksLikeJson(text: string): boolean {
  const [first = '', second = ''] = text.trimStart().split('\n', 2)
  return /^[[{]/.test(first) && !/^[[{]/.test(second)
}
