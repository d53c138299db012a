import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeExpiry, readKeyState } from '../src/shared/keys/key_state.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

test('a key is valid, expires soon, has expired or was revoked', () => {
  const state = (expires_at: string | null, revoked_at: string | null = null) =>
    readKeyState({ expires_at, revoked_at }, NOW)
  assert.equal(state(null), 'valid')
  assert.equal(state('2026-11-27T12:00:01Z'), 'valid')
  assert.equal(state('2026-11-27T12:00:00Z'), 'expires soon')
  assert.equal(state('2026-11-20T12:00:00Z'), 'expired')
  assert.equal(state(null, '2026-11-01T00:00:00Z'), 'revoked')
  assert.equal(state('2026-11-01T00:00:00Z', '2026-10-01T00:00:00Z'), 'revoked')
})

test('a new key expires after days, at the end of a day, or never', () => {
  assert.equal(computeExpiry('7', '', NOW), '2026-11-27T12:00:00.000Z')
  assert.equal(computeExpiry('0', '', NOW), null)
  assert.equal(computeExpiry('date', '', NOW), undefined)
  assert.equal(computeExpiry('date', 'nonsense', NOW), undefined)
  assert.equal(computeExpiry('date', '2026-11-18', NOW), undefined)
  const end = computeExpiry('date', '2026-12-24', NOW)
  assert.equal(end && new Date(end).getTime(), new Date('2026-12-24T23:59:59').getTime())
})
