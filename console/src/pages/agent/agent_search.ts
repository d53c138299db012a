import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'

export const TABS = ['tools', 'model', 'keys', 'calls'] as const
export type AgentTab = (typeof TABS)[number]

/** What the address of an agent says. */
export interface AgentSearch {
  tab?: AgentTab
  /** Whether tools are being chosen, and the filter of their list. */
  choose?: boolean
  q?: string
  /** The dialect of the declarations, and whether they are strict. */
  as?: string
  strict?: boolean
}

/** Return what the address says; anything else is left out. */
export function readAgentSearch(search: RawSearch): AgentSearch {
  return {
    tab: readChoice(search, 'tab', TABS),
    choose: readText(search, 'choose') === 'true' || undefined,
    q: readText(search, 'q'),
    as: readText(search, 'as'),
    strict: readText(search, 'strict') === 'true' || undefined,
  }
}
