/** The sections of Settings in their order; `isForAdmins`: the API refuses members what it shows. */
export const SECTIONS = [
  { name: 'account', label: 'Account', isForAdmins: false },
  { name: 'secrets', label: 'Secrets', isForAdmins: false },
  { name: 'people', label: 'People', isForAdmins: true },
  { name: 'journal', label: 'Journal', isForAdmins: true },
  { name: 'tables', label: 'Tables', isForAdmins: true },
  { name: 'system', label: 'System', isForAdmins: true },
] as const

export type SectionName = (typeof SECTIONS)[number]['name']
