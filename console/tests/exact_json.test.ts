import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatJson, hasRawNumber, isRawNumber, parseExactly } from '../src/shared/json/exact_json.ts'

test('numbers that JavaScript cannot hold are written back digit for digit', () => {
  for (const number of [
    '12345678901234567890',
    '9007199254740993',
    '0.1234567890123456789',
    '1e400',
    '-123456789012345678',
  ]) {
    assert.equal(formatJson(parseExactly(number)), number)
    assert.ok(isRawNumber(parseExactly(number)), number)
  }
})

test('numbers that JavaScript can hold are plain numbers, however they are written', () => {
  for (const [text, value] of [
    ['1.50', 1.5],
    ['15e-1', 1.5],
    ['1E3', 1000],
    ['-0', -0],
    ['0.0', 0],
    ['9007199254740991', 9007199254740991],
  ] as const) {
    assert.equal(parseExactly(text), value)
  }
})

test('such a number is found anywhere in a value', () => {
  assert.ok(hasRawNumber(parseExactly('{"a": [1, {"b": 12345678901234567890}]}')))
  assert.ok(!hasRawNumber(parseExactly('{"a": [1, {"b": 2}]}')))
})

test('the name __proto__ is a name like any other', () => {
  const value = parseExactly('{"__proto__": {"admin": true}}') as object
  assert.equal(formatJson(value), '{\n  "__proto__": {\n    "admin": true\n  }\n}')
  assert.equal(Object.getPrototypeOf(value), Object.prototype)
})
