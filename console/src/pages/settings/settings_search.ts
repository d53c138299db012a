import { type RawSearch, readChoice, readText } from '../../shared/query/search_values.ts'

const CREATED = ['key', 'user', 'secret'] as const

/** What is opened and shown in a section, as the address has it. */
export interface SettingsSearch {
  /** The opened user of People. */
  open?: string
  /** A text that filters the settings of System. */
  q?: string
  /** The opened dialog that creates something. */
  new?: (typeof CREATED)[number]
  /** `all` also shows keys that were revoked or have expired. */
  keys?: 'all'
}

/** Return what an address says; what is unknown is left out. */
export function readSettingsSearch(search: RawSearch): SettingsSearch {
  return {
    open: readText(search, 'open'),
    q: readText(search, 'q'),
    new: readChoice(search, 'new', CREATED),
    keys: readChoice(search, 'keys', ['all']),
  }
}
