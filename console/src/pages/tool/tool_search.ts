import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'

export const INPUTS = ['form', 'json'] as const

/** What the address of a tool says: how arguments are written, and a row of the journal to take them from. */
export interface ToolSearch {
  input?: (typeof INPUTS)[number]
  from?: string
}

/** Return what the address says; anything else is left out. */
export function readToolSearch(search: RawSearch): ToolSearch {
  return { input: readChoice(search, 'input', INPUTS), from: readText(search, 'from') }
}
