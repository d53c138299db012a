import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupLatencies } from '../src/shared/chart/group_latencies.ts'

const total = (bars: { calls: number }[]) => bars.reduce((sum, bar) => sum + bar.calls, 0)

test('durations are grouped between round limits, with empty bars between them', () => {
  const bars = groupLatencies([
    { from_ms: 1.05, below_ms: 1.1, calls: 3 },
    { from_ms: 1.11, below_ms: 1.15, calls: 2 },
    { from_ms: 2.5, below_ms: 2.6, calls: 1 },
  ])
  assert.deepEqual(bars, [
    { from: 1, below: 1.2, calls: 5 },
    { from: 1.2, below: 1.5, calls: 0 },
    { from: 1.5, below: 1.8, calls: 0 },
    { from: 1.8, below: 2.2, calls: 0 },
    { from: 2.2, below: 2.7, calls: 1 },
  ])
})

test('a wide range has coarser limits, and no call is lost', () => {
  const counts = Array.from({ length: 480 }, (_, place) => ({
    from_ms: 0.001 * 1.06 ** place,
    below_ms: 0.001 * 1.06 ** (place + 1),
    calls: place,
  }))
  const bars = groupLatencies(counts)
  assert.ok(bars.length <= 30, `${bars.length} bars`)
  assert.equal(
    total(bars),
    counts.reduce((sum, each) => sum + each.calls, 0),
  )
})

test('no calls have no bars; calls below and above every limit are in the first and the last bar', () => {
  assert.deepEqual(groupLatencies([]), [])
  const ends = groupLatencies([
    { from_ms: 0, below_ms: 0.001, calls: 1 },
    { from_ms: 2.6e9, below_ms: null, calls: 2 },
  ])
  assert.equal(ends[0]?.calls, 1)
  assert.equal(ends.at(-1)?.calls, 2)
})
