import { type RawSearch, readText } from '../../shared/query/search_values.ts'

/** What the address of the inspector says: the dialect of the payload, and that of the results. The payload is not in it. */
export interface InspectorSearch {
  from?: string
  as?: string
}

/** Return what the address says; anything else is left out. */
export function readInspectorSearch(search: RawSearch): InspectorSearch {
  return { from: readText(search, 'from'), as: readText(search, 'as') }
}
