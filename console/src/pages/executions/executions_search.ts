import { type RawSearch, readChoice, readNumber, readText, readTime } from '../../shared/query/search_values.ts'

export const STATUSES = ['succeeded', 'failed', 'refused', 'in_doubt'] as const
export const PARTS = ['replay', 'proof'] as const
export const SURFACES = ['rest', 'mcp', 'cli', 'library', 'console'] as const
const TEXTS = ['tool', 'code', 'caller', 'agent', 'kind', 'dialect', 'thread', 'chain', 'request_id'] as const

/** The filters of the journal and the opened row, as the address has them. */
export interface ExecutionsSearch extends Partial<Record<(typeof TEXTS)[number], string>> {
  status?: (typeof STATUSES)[number]
  surface?: (typeof SURFACES)[number]
  since?: string
  until?: string
  min_ms?: number
  open?: string
  /** What is opened in the row. */
  part?: (typeof PARTS)[number]
}

/** Return the filters of an address; what is no filter is left out. */
export function readExecutionsSearch(search: RawSearch): ExecutionsSearch {
  return {
    ...Object.fromEntries(TEXTS.map((name) => [name, readText(search, name)])),
    status: readChoice(search, 'status', STATUSES),
    surface: readChoice(search, 'surface', SURFACES),
    since: readTime(search, 'since'),
    until: readTime(search, 'until'),
    min_ms: readNumber(search, 'min_ms'),
    open: readText(search, 'open'),
    part: readChoice(search, 'part', PARTS),
  }
}

/** Return the filters without the opened row. */
export function listFilters({
  open: _open,
  part: _part,
  ...filters
}: ExecutionsSearch): Omit<ExecutionsSearch, 'open' | 'part'> {
  return filters
}
