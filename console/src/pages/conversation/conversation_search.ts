import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'

export const TABS = ['messages', 'history'] as const
export type ConversationTab = (typeof TABS)[number]

/** What the address of a conversation says: the tab, and for a history its dialect and where it continues. */
export interface ConversationSearch {
  tab?: ConversationTab
  as?: string
  after?: string
}

/** Return what the address says; anything else is left out. */
export function readConversationSearch(search: RawSearch): ConversationSearch {
  return { tab: readChoice(search, 'tab', TABS), as: readText(search, 'as'), after: readText(search, 'after') }
}
