import type { Key } from '../../shared/keys/keys_query.ts'

const WEEK_MS = 7 * 24 * 3_600_000

/** Return the keys that are valid at `now` and no longer a week later, the earliest first. */
export function listExpiring(keys: Key[], now: number): Key[] {
  const timeOf = (key: Key) => (key.expires_at ? Date.parse(key.expires_at) : Number.POSITIVE_INFINITY)
  return keys
    .filter((key) => key.revoked_at === null && timeOf(key) > now && timeOf(key) <= now + WEEK_MS)
    .sort((one, other) => timeOf(one) - timeOf(other))
}
