import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatBytes, formatCount, formatDuration, formatShare } from '../src/shared/format/numbers.ts'
import { outlineText } from '../src/shared/result/outline_text.ts'
import { buildTable } from '../src/shared/result/table_rows.ts'
import { formatAge, formatTime } from '../src/shared/time/format_time.ts'

test('durations have the unit that people read', () => {
  const durations = [0.123, 5.25, 240.4, 1234, 59_960, 185_000, 7_200_000]
  const texts = ['0.12 ms', '5.3 ms', '240 ms', '1.23 s', '60 s', '3 min 5 s', '2 h']
  assert.deepEqual(
    durations.map((each) => formatDuration(each)),
    texts,
  )
  assert.equal(formatDuration(null), '–')
})

test('only all is 100 per cent, and only none is 0', () => {
  assert.equal(formatShare(99_999, 100_000), '99.9 %')
  assert.equal(formatShare(1, 100_000), '0.1 %')
  assert.equal(formatShare(5, 5), '100 %')
  assert.equal(formatShare(0, 5), '0 %')
  assert.equal(formatShare(0, 0), '–')
})

test('large counts and sizes are short', () => {
  assert.deepEqual([9999, 12_345, 4_100_000].map(formatCount), ['9,999', '12.3k', '4.1M'])
  assert.deepEqual([10, 2048, 3 * 1024 * 1024].map(formatBytes), ['10 B', '2 KiB', '3 MiB'])
})

test('times of today have no date', () => {
  const now = new Date('2026-05-04T12:00:00Z')
  assert.equal(formatTime('2026-05-04T09:05:06Z', 'utc', now), '09:05:06')
  assert.match(formatTime('2026-05-03T09:05:06Z', 'utc', now), /2026.*09:05:06/)
  assert.equal(formatAge('2026-05-04T11:50:00Z', now), '10 min ago')
})

test('a list of objects is a table with a column for each name', () => {
  assert.deepEqual(buildTable([{ a: 1 }, { a: 2, b: [3] }]), {
    columns: ['a', 'b'],
    rows: [
      ['1', ''],
      ['2', '[3]'],
    ],
    moreRows: 0,
    moreColumns: 0,
  })
})

test('a table of any size is cut, and says by how much', () => {
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`c${index}`, index]))
  const table = buildTable(Array.from({ length: 70 }, () => wide))
  assert.deepEqual([table?.rows.length, table?.columns.length, table?.moreRows, table?.moreColumns], [50, 12, 20, 9988])
})

test('texts, numbers and empty lists are no table', () => {
  for (const value of ['x', 1, null, [], [1, 2], {}]) assert.equal(buildTable(value), undefined)
})

test('an outline shows names and values by indentation', () => {
  assert.equal(outlineText({ a: 1, b: { c: [true, 'x'] } }), 'a: 1\nb:\n  c:\n    - true\n    - x')
})
