import type { Key } from './keys_query.ts'

export type KeyState = 'valid' | 'expires soon' | 'expired' | 'revoked'

const WEEK_MS = 7 * 24 * 3_600_000
const DAY_MS = 24 * 3_600_000

/** Return whether a key is valid at `now`; one that expires within a week is `expires soon`. */
export function readKeyState(key: Pick<Key, 'revoked_at' | 'expires_at'>, now: number): KeyState {
  if (key.revoked_at !== null) return 'revoked'
  if (key.expires_at === null) return 'valid'
  const left = Date.parse(key.expires_at) - now
  if (left <= 0) return 'expired'
  return left <= WEEK_MS ? 'expires soon' : 'valid'
}

/** Return whether requests with a key are accepted at `now`. */
export function isUsable(key: Pick<Key, 'revoked_at' | 'expires_at'>, now: number): boolean {
  return !['revoked', 'expired'].includes(readKeyState(key, now))
}

/** The choices for the time after which a new key expires, in days; `0` is never, `date` a day that is chosen. */
export const LIFETIMES = [
  { value: '7', label: 'After 7 days' },
  { value: '30', label: 'After 30 days' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After a year' },
  { value: 'date', label: 'On a date' },
  { value: '0', label: 'Never' },
] as const

/** Return when a new key expires: null for never, undefined for a date that is missing or not after `now`. */
export function computeExpiry(lifetime: string, date: string, now: number): string | null | undefined {
  if (lifetime === '0') return null
  if (lifetime !== 'date') return new Date(now + Number(lifetime) * DAY_MS).toISOString()
  // The end of the day in the zone of the browser.
  const end = new Date(`${date}T23:59:59`)
  return Number.isNaN(end.getTime()) || end.getTime() <= now ? undefined : end.toISOString()
}
