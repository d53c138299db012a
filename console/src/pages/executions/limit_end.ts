import type { Execution } from './executions_query.ts'

const WAIT = /; try again in (\d+) (ms|s)$/
const LENGTHS = { ms: 1, s: 1000 }

/** Return when a call was possible again after one that a rate limit refused; undefined for other rows. */
export function findLimitEnd(row: Pick<Execution, 'code' | 'error' | 'started_at' | 'elapsed_ms'>): string | undefined {
  const [, amount, unit] = (row.code === 'rate_limited' && row.error?.match(WAIT)) || []
  if (amount === undefined) return undefined
  const wait = Number(amount) * LENGTHS[unit as keyof typeof LENGTHS]
  return new Date(Date.parse(row.started_at) + Number(row.elapsed_ms) + wait).toISOString()
}
