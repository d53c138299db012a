import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listExpiring } from '../src/pages/overview/expiring_keys.ts'
import type { Key } from '../src/shared/keys/keys_query.ts'

const NOW = Date.parse('2026-11-19T12:00:00Z')
const key = (id: string, expires_at: string | null, revoked_at: string | null = null) =>
  ({ id, expires_at, revoked_at }) as Key

test('keys that expire within a week are listed, the earliest first', () => {
  const keys = [
    key('sixth day', '2026-11-25T12:00:00Z'),
    key('tomorrow', '2026-11-20T12:00:00Z'),
    key('later', '2026-11-27T12:00:00Z'),
    key('never', null),
    key('expired', '2026-11-18T12:00:00Z'),
    key('revoked', '2026-11-20T12:00:00Z', '2026-11-18T12:00:00Z'),
  ]
  assert.deepEqual(
    listExpiring(keys, NOW).map((each) => each.id),
    ['tomorrow', 'sixth day'],
  )
})
