import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'

export const INPUTS = ['form', 'json'] as const

export const TABS = ['try'] as const

/** What the address of a tool says: the opened tab, how arguments are written, and a row of the journal to take them from. */
export interface ToolSearch {
  tab?: (typeof TABS)[number]
  input?: (typeof INPUTS)[number]
  from?: string
}

/** Return what the address says; anything else is left out. */
export function readToolSearch(search: RawSearch): ToolSearch {
  return {
    tab: readChoice(search, 'tab', TABS),
    input: readChoice(search, 'input', INPUTS),
    from: readText(search, 'from'),
  }
}
