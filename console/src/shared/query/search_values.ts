/** What the address of a page says after `?`; made by hand, any value may be anything. */
export type RawSearch = Record<string, unknown>

/** Return a text of the address, or undefined; numbers and booleans are texts that the router has parsed. */
export function readText(search: RawSearch, name: string): string | undefined {
  const value = search[name]
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Return a value of the address that is one of `choices`, or undefined. */
export function readChoice<T extends string>(search: RawSearch, name: string, choices: readonly T[]): T | undefined {
  const value = readText(search, name)
  return choices.find((choice) => choice === value)
}

/** Return a time of the address, or undefined if it is none. */
export function readTime(search: RawSearch, name: string): string | undefined {
  const value = readText(search, name)
  return value !== undefined && !Number.isNaN(Date.parse(value)) ? value : undefined
}

/** Return a number of the address that is not negative, or undefined. */
export function readNumber(search: RawSearch, name: string): number | undefined {
  const value = Number(readText(search, name))
  return Number.isFinite(value) && value >= 0 && readText(search, name) !== undefined ? value : undefined
}
