import { type RawSearch, readChoice } from '../../shared/query/search_values.ts'

export const SPANS = ['hour', 'day', 'week', 'month'] as const
export type Span = (typeof SPANS)[number]

/** The time that the overview shows; a day if the address does not say. */
export interface OverviewSearch {
  span?: Span
}

/** Return what the address says; anything else is left out. */
export function readOverviewSearch(search: RawSearch): OverviewSearch {
  return { span: readChoice(search, 'span', SPANS) }
}
