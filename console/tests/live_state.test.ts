import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyEvents, emptyState, listRates, setRunning, sumCalls } from '../src/pages/live/live_state.ts'

const NOW = 1_000_000
const event = (name: string, data: object) => ({ id: '1', name, data: JSON.stringify(data) })
const started = (run_id: string, started_at = '1970-01-01T00:00:00Z') =>
  event('started', { run_id, tool_name: 't', caller: 'c', surface: 'rest', started_at })
const finished = (id: string, status = 'succeeded') => event('finished', { id, tool_name: 't', caller: 'c', status })

test('calls run from their start to their end', () => {
  let state = applyEvents(
    emptyState(),
    [started('a'), started('b'), event('progress', { run_id: 'a', progress: 3, total: 10 })],
    NOW,
  )
  assert.equal(state.running.get('a')?.progress, 3)
  state = applyEvents(state, [finished('b'), finished('c', 'failed')], NOW)
  assert.deepEqual([...state.running.keys()], ['a'])
  assert.deepEqual(
    state.ended.map((call) => call.id),
    ['c', 'b'],
  )
  assert.equal(sumCalls(state.buckets, NOW - 60_000).failed, 1)
  assert.equal(listRates(state.buckets, NOW).at(-1), 2)
})

test('what the server says is running replaces what was known, but for later starts and ends', () => {
  const state = applyEvents(
    emptyState(),
    [started('lost'), started('late', '2026-01-01T00:00:00Z'), finished('ended')],
    NOW,
  )
  const items = ['kept', 'ended'].map((run_id) => ({ run_id }) as never)
  assert.deepEqual([...setRunning(state, items, Date.parse('2025-12-31')).running.keys()], ['kept', 'late'])
})

test('ten thousand calls are bounded', () => {
  const events = Array.from({ length: 10_000 }, (_, index) => [started(`r${index}`), finished(`e${index}`)]).flat()
  const state = applyEvents(emptyState(), events, NOW)
  assert.equal(state.ended.length, 200)
  assert.equal(state.running.size, 2_000)
  assert.equal(sumCalls(state.buckets, 0).succeeded, 10_000)
})
