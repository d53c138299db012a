import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAll } from '../src/shared/action/run_all.ts'

test('requests run a few at a time, and an error of one stays with it', async () => {
  let running = 0
  let most = 0
  const items = Array.from({ length: 23 }, (_, number) => number)
  const outcomes = await runAll(
    items,
    async (item) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running -= 1
      if (item % 10 === 3) throw new Error(`no ${item}`)
    },
    { atOnce: 4 },
  )
  assert.equal(most, 4)
  assert.deepEqual(
    outcomes.map(({ item }) => item).toSorted((a, b) => a - b),
    items,
  )
  assert.deepEqual(
    outcomes.flatMap(({ error }) => error?.message ?? []),
    ['no 3', 'no 13'],
  )
})

test('none begins after the signal', async () => {
  const stop = new AbortController()
  const outcomes = await runAll([1, 2, 3, 4], async (item) => item === 2 && stop.abort(), {
    atOnce: 1,
    signal: stop.signal,
  })
  assert.deepEqual(
    outcomes.map(({ item }) => item),
    [1, 2],
  )
})
