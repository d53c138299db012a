import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'

export const STATES = ['active', 'inactive', 'drifted', 'deleted'] as const
export const ORDERS = ['name', 'updated_at'] as const

/** The filters of the list of tools, as the address has them. */
export interface ToolsSearch {
  q?: string
  kind?: string
  state?: (typeof STATES)[number]
  tag?: string
  sort?: (typeof ORDERS)[number]
}

/** Return the filters of an address; what is no filter is left out. */
export function readToolsSearch(search: RawSearch): ToolsSearch {
  return {
    q: readText(search, 'q'),
    kind: readText(search, 'kind'),
    state: readChoice(search, 'state', STATES),
    tag: readText(search, 'tag'),
    sort: readChoice(search, 'sort', ORDERS),
  }
}
