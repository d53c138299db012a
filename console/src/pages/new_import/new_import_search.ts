import { type RawSearch, readChoice } from '../../shared/query/search_values.ts'

export const ORIGINS = ['openapi', 'mcp'] as const
export const DOCUMENT_WAYS = ['file', 'url', 'text'] as const
export const SERVER_WAYS = ['url', 'command'] as const

/** What is imported, and how it is given, as the address has it. */
export interface NewImportSearch {
  from?: (typeof ORIGINS)[number]
  by?: 'file' | 'url' | 'text' | 'command'
}

/** Return what an address says; what it cannot say is left out. */
export function readNewImportSearch(search: RawSearch): NewImportSearch {
  const from = readChoice(search, 'from', ORIGINS)
  const ways: readonly NonNullable<NewImportSearch['by']>[] = from === 'mcp' ? SERVER_WAYS : DOCUMENT_WAYS
  return { from, by: readChoice(search, 'by', ways) }
}
