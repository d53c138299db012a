import type { Schemas } from '../api/client.ts'

/** Return a rate limit in words, such as `30 calls per minute for each caller, 5 at once`. */
export function describeRateLimit(limit: Schemas['RateLimit']): string {
  const { max_calls: calls, period, burst, scope } = limit
  const each = `${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'} per ${period}`
  const whose = scope === 'tool' ? 'of all callers together' : 'for each caller'
  return `${each} ${whose}, ${(burst ?? calls).toLocaleString('en')} at once`
}
