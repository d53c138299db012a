import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'
import { STATUSES } from '../executions/executions_search.ts'

/** What the page of running calls is filtered by. */
export interface LiveSearch {
  q?: string
  status?: (typeof STATUSES)[number]
}

/** Return the filters of an address; what is no filter is left out. */
export function readLiveSearch(search: RawSearch): LiveSearch {
  return { q: readText(search, 'q'), status: readChoice(search, 'status', STATUSES) }
}
