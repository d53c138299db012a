import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMediaType, placeFault } from '../src/pages/inspector/payload_kind.ts'
import { findJsonFault } from '../src/shared/json/find_json_fault.ts'

const VALID = ['{}', '[]', ' {"a": [1, -2.5e+3, true, null, "\\u00e9\\n"], "b": {}} ', '"x"', '0', '[[], [{}]]']
const FAULTS: [string, number][] = [
  ['', 0],
  ['{"a": ', 6],
  ['{"a": 1,}', 8],
  ['{"a": tru}', 6],
  ['{a: 1}', 1],
  ['[1 2]', 3],
  ['[1, ]', 4],
  ['{"a": "\n"}', 7],
  ['"\\x"', 1],
  ['{} {}', 3],
  ['[1}', 2],
  ['01', 1],
  [']', 0],
]

test('a fault of JSON is found at its place, and valid JSON has none', () => {
  for (const text of VALID) {
    JSON.parse(text)
    assert.equal(findJsonFault(text), undefined, text)
  }
  for (const [text, place] of FAULTS) {
    assert.throws(() => JSON.parse(text), SyntaxError, text)
    assert.equal(findJsonFault(text), place, text)
  }
})

test('every beginning of a JSON text is refused exactly where JSON.parse refuses it', () => {
  const text = '{"a": [1.5, {"b": "x\\"y"}], "c": null}'
  for (let end = 0; end < text.length; end += 1) assert.notEqual(findJsonFault(text.slice(0, end)), undefined)
  for (let at = 0; at < text.length; at += 1) {
    const changed = `${text.slice(0, at)}]${text.slice(at + 1)}`
    let isValid = true
    try {
      JSON.parse(changed)
    } catch {
      isValid = false
    }
    assert.equal(findJsonFault(changed) === undefined, isValid, changed)
  }
})

test('a long string and deep lists are scanned', () => {
  assert.equal(findJsonFault(`"${'x'.repeat(2_000_000)}"`), undefined)
  assert.equal(findJsonFault('['.repeat(100_000)), 100_000)
})

test('JSON is sent as JSON, and streams and the text of a model as text', () => {
  assert.equal(findMediaType('{"name": "echo"}'), 'application/json')
  assert.equal(findMediaType('<tool_call>{"name": "echo"}</tool_call>'), 'text/plain')
  assert.equal(findMediaType('data: {"a": 1}\n\ndata: [DONE]'), 'text/plain')
  assert.equal(findMediaType('{"a": 1}\n{"a": 2}'), 'text/plain')
})

test('a fault has its line and column, but only in a text that was meant as one JSON value', () => {
  const fault = placeFault('{\n  "a": 1,\n  "b": tru\n}')
  assert.deepEqual([fault?.line, fault?.column], [3, 8])
  assert.equal(placeFault('{"a": 1}\n{"a": 2'), undefined)
  assert.equal(placeFault('data: {}'), undefined)
  assert.equal(placeFault('{"a": 1}'), undefined)
})
