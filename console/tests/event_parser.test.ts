import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventParser } from '../src/shared/stream/event_parser.ts'
import { choosePause } from '../src/shared/stream/pause.ts'

test('events are read from pieces that end anywhere', () => {
  const parser = new EventParser()
  const text = 'retry: 500\n\nid: 4\nevent: change\ndata: {"a":1}\n\n: still here\n\ndata: x\r\ndata: y\r\n\r\n'
  const events = [...text].flatMap((letter) => parser.push(letter))
  assert.deepEqual(events, [
    { id: '4', name: 'change', data: '{"a":1}' },
    { id: '4', name: 'message', data: 'x\ny' },
  ])
})

test('an id without data is where to continue, and no event', () => {
  const parser = new EventParser()
  assert.deepEqual(parser.push('retry: 500\n\nid: 12\n\n'), [])
  assert.equal(parser.lastId, '12')
})

test('pauses grow up to a bound', () => {
  assert.deepEqual(
    [1, 2, 3, 20].map((failures) => choosePause(failures, 0.5)),
    [500, 1000, 2000, 10_000],
  )
})
