import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'

export const TABS = ['sources', 'changes'] as const
export const SOURCE_KINDS = ['mcp', 'openapi'] as const

/** The opened tab, the filters of the sources, and the opened source or change, as the address has them. */
export interface ImportsSearch {
  tab?: (typeof TABS)[number]
  q?: string
  kind?: (typeof SOURCE_KINDS)[number]
  open?: string
}

/** Return what an address says; what it cannot say is left out. */
export function readImportsSearch(search: RawSearch): ImportsSearch {
  return {
    tab: readChoice(search, 'tab', TABS),
    q: readText(search, 'q'),
    kind: readChoice(search, 'kind', SOURCE_KINDS),
    open: readText(search, 'open'),
  }
}
