import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLimitEnd } from '../src/pages/executions/limit_end.ts'

const row = (code: string | null, error: string | null) => ({
  code,
  error,
  started_at: '2026-11-19T12:00:00.000Z',
  elapsed_ms: 500,
})

test('a call that a rate limit refused says when the next one was possible', () => {
  const refused = "Rate limit of 'create_ticket' reached: 30 calls per minute; try again in 2 s"
  assert.equal(findLimitEnd(row('rate_limited', refused)), '2026-11-19T12:00:02.500Z')
  assert.equal(
    findLimitEnd(row('rate_limited', 'Rate limit of this key reached; try again in 20 ms')),
    '2026-11-19T12:00:00.520Z',
  )
})

test('no other row does', () => {
  assert.equal(findLimitEnd(row('rate_limited', 'The upstream answered 429')), undefined)
  assert.equal(findLimitEnd(row('timeout', 'Too late; try again in 2 s')), undefined)
  assert.equal(findLimitEnd(row(null, null)), undefined)
})
