import { type RawSearch, readText } from '../../shared/query/search_values.ts'

/** The chosen kind of a new tool, as the address has it. */
export interface NewToolSearch {
  kind?: string
}

/** Return what the address says; anything else is left out. */
export function readNewToolSearch(search: RawSearch): NewToolSearch {
  return { kind: readText(search, 'kind') }
}
