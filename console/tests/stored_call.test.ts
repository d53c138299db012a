import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCall } from '../src/shared/call_card/stored_call.ts'

test('a call of a thread has its outcome, its duration and its row', () => {
  const call = readCall({
    id: 'c1',
    name: 'add',
    arguments: { a: 1 },
    result: null,
    duration_ms: 3.5,
    attempts: 2,
    run_id: 'r',
  })
  assert.equal(call.outcome, 'succeeded')
  assert.deepEqual([call.duration, call.attempts, call.run], [3.5, 2, 'r'])
  assert.equal(readCall({ name: 'add', error: 'no', code: 'timeout' }).outcome, 'failed')
  assert.equal(readCall({ name: 'add', error: { why: 'no' } }).error, '{"why":"no"}')
  assert.equal(readCall({ name: 'add' }).outcome, 'open')
  assert.equal(readCall({ name: 'search', provider_executed: true }).outcome, 'elsewhere')
})

test('a call that would be refused names the fields', () => {
  const { problem } = readCall({
    name: 'add',
    problem: {
      message: 'Invalid',
      code: 'missing',
      problems: [{ field: 'a', message: 'required' }, { message: 'all' }],
    },
  })
  assert.deepEqual(problem, {
    message: 'Invalid',
    code: 'missing',
    fields: [
      { field: 'a', message: 'required' },
      { field: 'arguments', message: 'all' },
    ],
  })
})

test('fields of the wrong type are left out', () => {
  for (const value of [null, 'call', [1], { name: { __proto__: 'x' }, id: 5, duration_ms: '3', problem: 7 }]) {
    const call = readCall(value)
    assert.deepEqual([call.name, call.id, call.duration, call.outcome], [undefined, undefined, undefined, 'open'])
  }
})
