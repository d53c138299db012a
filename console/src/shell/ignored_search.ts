import type { RawSearch } from '../shared/query/search_values.ts'

/** A part of an address that a page does not use; `isName`: it knows no such name, else no such value. */
export interface IgnoredPart {
  name: string
  value: string
  isName: boolean
}

/** Return what of a typed query the page does not use, given the function that reads it. */
export function findIgnored(typed: URLSearchParams, read: (search: RawSearch) => object): IgnoredPart[] {
  const used = read(Object.fromEntries(typed)) as Record<string, unknown>
  return [...typed]
    .filter(([name]) => !Object.hasOwn(used, name) || used[name] === undefined)
    .map(([name, value]) => ({ name, value, isName: !Object.hasOwn(used, name) }))
}
