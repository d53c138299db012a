import { type RawSearch, readText } from '../../shared/query/search_values.ts'

/** The filter of the list of agents, as the address has it. */
export interface AgentsSearch {
  q?: string
}

/** Return the filter of an address; anything else is left out. */
export function readAgentsSearch(search: RawSearch): AgentsSearch {
  return { q: readText(search, 'q') }
}
