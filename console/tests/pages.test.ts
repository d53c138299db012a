import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGES } from '../src/shell/pages.ts'

test('each page has an address and a letter of its own', () => {
  for (const name of ['to', 'label', 'letter'] as const) {
    const values = PAGES.map((page) => page[name])
    assert.deepEqual([...new Set(values)], values)
  }
  assert.ok(PAGES.every(({ letter }) => /^[a-fh-z]$/.test(letter)))
})
