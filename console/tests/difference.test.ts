import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alignItems } from '../src/shared/difference/align_items.ts'
import { compareValues } from '../src/shared/difference/compare_values.ts'
import { compareLines, compareTexts, compareWords } from '../src/shared/difference/text_runs.ts'
import { parseExactly } from '../src/shared/json/exact_json.ts'

const found = (before: unknown, after: unknown) => compareValues(before, after).differences

test('fields that were added, removed and changed are named by their path', () => {
  const before = { name: 'get_weather', config: { url: 'https://a', method: 'GET' } }
  const after = { name: 'get_weather', config: { url: 'https://b', timeout: 3 } }
  assert.deepEqual(found(before, after), [
    { path: 'config.url', change: 'changed', before: 'https://a', after: 'https://b' },
    { path: 'config.method', change: 'removed', before: 'GET' },
    { path: 'config.timeout', change: 'added', after: 3 },
  ])
})

test('equal values have no difference, whatever the order of their fields', () => {
  assert.deepEqual(found({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }), [])
  assert.deepEqual(found([{ a: 1, b: 2 }], [{ b: 2, a: 1 }]), [])
  assert.deepEqual(found('x', 'x'), [])
})

test('another type, null and an absent field are differences', () => {
  assert.deepEqual(found(1, '1'), [{ path: '', change: 'changed', before: 1, after: '1' }])
  assert.deepEqual(found({ a: null }, {}), [{ path: 'a', change: 'removed', before: null }])
  assert.deepEqual(found({ a: [] }, { a: {} }), [{ path: 'a', change: 'changed', before: [], after: {} }])
})

test('an item that is removed from a list does not change those after it', () => {
  assert.deepEqual(found({ required: ['city', 'unit', 'day'] }, { required: ['unit', 'day'] }), [
    { path: 'required[0]', change: 'removed', before: 'city' },
  ])
  assert.deepEqual(found(['a', 'b'], ['a', 'x', 'b']), [{ path: '[1]', change: 'added', after: 'x' }])
})

test('an item that is replaced is compared field by field', () => {
  assert.deepEqual(found([{ id: 1, on: true }, { id: 2 }], [{ id: 1, on: false }, { id: 2 }]), [
    { path: '[0].on', change: 'changed', before: true, after: false },
  ])
})

test('names such as __proto__ are ordinary fields', () => {
  const differences = found(JSON.parse('{"__proto__": 1, "constructor": 2}'), JSON.parse('{"toString": 3}'))
  assert.deepEqual(
    differences.map(({ path, change }) => `${change} ${path}`),
    ['removed __proto__', 'removed constructor', 'added toString'],
  )
})

test('numbers that JavaScript cannot hold are compared digit by digit, where they can be kept', (context) => {
  if (!('rawJSON' in JSON)) return context.skip('this runtime cannot keep them')
  const [one, other] = ['{"n": 12345678901234567890}', '{"n": 12345678901234567891}'].map(parseExactly)
  assert.equal(found(one, other).length, 1)
  assert.equal(found(one, parseExactly('{"n": 12345678901234567890}')).length, 0)
})

test('more differences than the limit are cut, and the result says so', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, place) => [`field_${place}`, place]))
  const { differences, isCut } = compareValues({}, many)
  assert.equal(differences.length, 200)
  assert.equal(isCut, true)
  assert.equal(compareValues({}, many, 300).isCut, false)
})

test('deep and long values are compared without running out of memory or stack', () => {
  let [one, other]: unknown[] = [1, 2]
  for (let depth = 0; depth < 500; depth += 1) [one, other] = [{ inner: one }, { inner: other }]
  const [deep] = found(one, other)
  assert.deepEqual([deep?.before, deep?.after], [1, 2])
  assert.ok((deep?.path.length ?? 0) < 500)
  const numbers = Array.from({ length: 20_000 }, (_, place) => place)
  assert.equal(compareValues(numbers, numbers.toReversed()).isCut, true)
})

test('sequences are aligned by their longest common subsequence', () => {
  const text = (before: string, after: string) =>
    alignItems([...before], [...after])
      .map((item) => `${item.before === undefined ? '+' : item.after === undefined ? '-' : '='}`)
      .join('')
  assert.equal(text('abcd', 'abcd'), '====')
  assert.equal(text('', 'ab'), '++')
  assert.equal(text('ab', ''), '--')
  assert.equal(text('abcd', 'abXd'), '==-+=')
  assert.equal(text('xaby', 'ab'), '-==-')
})

test('the words of two texts are compared, and no character is lost', () => {
  const [before, after] = ['Returns the weather of  a city.', 'Returns the current weather of a city.']
  const runs = compareWords(before, after)
  const join = (left: string) =>
    runs
      .filter((run) => run.change !== left)
      .map((run) => run.text)
      .join('')
  assert.equal(join('added'), before)
  assert.equal(join('removed'), after)
  assert.ok(runs.some((run) => run.change === 'added' && run.text.includes('current')))
})

test('lines that stay the same are in no difference', () => {
  assert.deepEqual(compareLines('a\nb\nc', 'a\nx\nc'), [
    { change: 'same', text: 'a' },
    { change: 'removed', text: 'b' },
    { change: 'added', text: 'x' },
    { change: 'same', text: 'c' },
  ])
})

test('texts with little in common, and very long ones, replace each other as a whole', () => {
  const changes = (before: string, after: string) => compareTexts(before, after).map((run) => run.change)
  assert.deepEqual(changes('Find a city by its name.', 'Opens a ticket.'), ['removed', 'added'])
  assert.deepEqual(changes('a '.repeat(40_000), 'b '.repeat(40_000)), ['removed', 'added'])
  assert.deepEqual(changes('Find a city by its name.', 'Find a city by its short name.'), ['same', 'added', 'same'])
})
