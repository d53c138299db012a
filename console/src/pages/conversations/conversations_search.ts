import { type RawSearch, readText } from '../../shared/query/search_values.ts'

/** The filter of the list of conversations, as the address has it. */
export interface ConversationsSearch {
  q?: string
}

/** Return the filter of an address; anything else is left out. */
export function readConversationsSearch(search: RawSearch): ConversationsSearch {
  return { q: readText(search, 'q') }
}
