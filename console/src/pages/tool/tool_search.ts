import { type RawSearch, readChoice, readNumber, readText } from '../../shared/query/search_values.ts'
import { type ExecutionsSearch, STATUSES } from '../executions/executions_search.ts'

export const SPANS = ['hour', 'day', 'week', 'month'] as const
export type Span = (typeof SPANS)[number]

export const INPUTS = ['form', 'json'] as const

export const TABS = ['try', 'model', 'executions', 'edit', 'versions', 'access'] as const

/** What the address of a tool says: the opened tab, how arguments are written, and a row of the journal to take them from. */
export interface ToolSearch {
  tab?: (typeof TABS)[number]
  /** The dialects of the declarations that are side by side, with commas. */
  as?: string
  /** The time span and the status of its executions. */
  span?: Span
  status?: ExecutionsSearch['status']
  /** The opened version. */
  version?: number
  input?: (typeof INPUTS)[number]
  from?: string
}

/** Return what the address says; anything else is left out. */
export function readToolSearch(search: RawSearch): ToolSearch {
  return {
    tab: readChoice(search, 'tab', TABS),
    as: readText(search, 'as'),
    span: readChoice(search, 'span', SPANS),
    status: readChoice(search, 'status', STATUSES),
    version: readNumber(search, 'version'),
    input: readChoice(search, 'input', INPUTS),
    from: readText(search, 'from'),
  }
}
