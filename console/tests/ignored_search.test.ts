import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExecutionsSearch } from '../src/pages/executions/executions_search.ts'
import { findIgnored } from '../src/shell/ignored_search.ts'

test('names and values that a page does not know are found', () => {
  const typed = new URLSearchParams('tool=echo&status=nonsense&colour=red&min_ms=5&__proto__=x')
  assert.deepEqual(findIgnored(typed, readExecutionsSearch), [
    { name: 'status', value: 'nonsense', isName: false },
    { name: 'colour', value: 'red', isName: true },
    { name: '__proto__', value: 'x', isName: true },
  ])
})
