import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitSchema } from '../src/shared/form/fit_schema.ts'

test('local references are resolved', () => {
  const { schema, left } = fitSchema({
    type: 'object',
    properties: { place: { $ref: '#/$defs/Place' } },
    $defs: { Place: { type: 'string', description: 'A city' } },
  })
  assert.deepEqual(schema?.properties, { place: { type: 'string', description: 'A city', title: 'place' } })
  assert.deepEqual(left, [])
})

test('a schema that refers to itself is left out where it repeats', () => {
  const node = { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/Node' } } }
  const { schema, left } = fitSchema({
    type: 'object',
    properties: { first: { $ref: '#/$defs/Node' } },
    $defs: { Node: node },
  })
  assert.ok(schema)
  assert.deepEqual(left, ['first.next: it refers to itself'])
})

test('a reference that leads nowhere, and what a form has no field for, are named', () => {
  const { left } = fitSchema({
    type: 'object',
    properties: { one: { $ref: '#/nowhere' }, two: true, three: { type: 'object', patternProperties: { '^x': {} } } },
    not: { required: ['one'] },
  })
  assert.deepEqual(left, [
    'what it must not be',
    'one: a reference that leads nowhere',
    'two: any value',
    'three: names by pattern',
  ])
})

test('of 2,000 parameters the first 60 are in the form', () => {
  const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`p${index}`, { type: 'string' }]))
  const { schema, left } = fitSchema({ type: 'object', properties })
  assert.equal(Object.keys(schema?.properties as object).length, 60)
  assert.deepEqual(left, ['1940 more parameters'])
})

test('titles and descriptions are made visible', () => {
  const { schema } = fitSchema({ type: 'object', properties: { a: { type: 'string', title: 'x\u202ey' } } })
  assert.deepEqual(schema?.properties, { a: { type: 'string', title: 'x⟨U+202E⟩y' } })
})

test('schemas without parameters, true and nonsense have no form', () => {
  for (const schema of [true, null, 7, [], {}, { type: 'object' }, { type: 'string' }, { properties: 3 }]) {
    assert.equal(fitSchema(schema).schema, undefined)
  }
})

test('the name __proto__ is left to JSON', () => {
  const { left } = fitSchema(JSON.parse('{"type": "object", "properties": {"__proto__": {"type": "string"}}}'))
  assert.deepEqual(left, ['__proto__: a form cannot hold this name'])
})
