import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dropFilledIn, makeChange, mergeChanges, toDefinition } from '../src/shared/definition/definition_values.ts'
import { hideSecrets, MASK } from '../src/shared/definition/hidden_secrets.ts'

const SCHEMA = {
  $defs: {
    Limit: {
      type: 'object',
      properties: { max: { type: 'integer' }, burst: { default: null }, scope: { default: 'caller' } },
    },
    Fallback: { type: 'object', properties: { value: { default: null }, tool: { default: null } } },
  },
  properties: {
    tags: { type: 'array', default: [] },
    name: { type: 'string' },
    is_active: { type: 'boolean', default: true },
    limit: { anyOf: [{ $ref: '#/$defs/Limit' }, { type: 'null' }], default: null },
    fallback: { anyOf: [{ $ref: '#/$defs/Fallback' }, { type: 'null' }], default: null },
    config: { type: 'object' },
  },
}

test('the definition of a tool has no defaults, and begins as people write it', () => {
  const tool = {
    id: '1',
    version: 3,
    tags: [],
    is_active: true,
    limit: { max: 3, burst: null, scope: 'caller' },
    fallback: { value: null, tool: null },
    config: { a: null },
    name: 'x',
  }
  const definition = toDefinition(tool, SCHEMA)
  assert.deepEqual(Object.keys(definition), ['name', 'config', 'limit', 'fallback'])
  assert.deepEqual(definition, {
    name: 'x',
    config: { a: null },
    limit: { max: 3 },
    fallback: { value: null, tool: null },
  })
})

test('defaults that a form fills in are left out, those that a person wrote stay', () => {
  const filled = {
    name: 'x',
    is_active: true,
    tags: [],
    limit: { max: 1, burst: null, scope: 'caller' },
    fallback: { value: null },
  }
  assert.deepEqual(dropFilledIn(filled, SCHEMA, {}), { name: 'x', limit: { max: 1 } })
  const written = { is_active: true, limit: { max: 1, scope: 'caller' } }
  assert.deepEqual(dropFilledIn(filled, SCHEMA, written), {
    name: 'x',
    is_active: true,
    limit: { max: 1, scope: 'caller' },
  })
})

test('a change has new values, and null for what is gone', () => {
  assert.deepEqual(makeChange({ a: 1, b: { x: 1, y: 2 }, c: 3 }, { b: { y: 2, x: 1 }, c: 4, d: 5 }), {
    a: null,
    c: 4,
    d: 5,
  })
})

test('changes of two people are both kept; where they meet, one’s own', () => {
  const base = { name: 'a', tags: ['x'], config: { url: 'u', method: 'GET' }, timeout: 1 }
  const mine = { name: 'a', tags: ['y'], config: { url: 'mine', method: 'GET' } }
  const theirs = { name: 'b', tags: ['z'], config: { url: 'u', method: 'PUT' }, timeout: 1, retry: 2 }
  assert.deepEqual(mergeChanges(base, mine, theirs), {
    name: 'b',
    tags: ['y'],
    config: { url: 'mine', method: 'PUT' },
    retry: 2,
  })
})

test('new secrets are not shown in a difference', () => {
  const base = { config: { headers: { A: MASK, B: MASK } }, auth_config: { type: 'bearer', token: MASK } }
  const mine = {
    config: { headers: { A: MASK, B: 'hush', C: 'Bearer {{secret:C}}' }, url: 'u' },
    auth_config: { type: 'bearer', token: 'hush' },
  }
  const text = JSON.stringify(hideSecrets(mine, base))
  assert.ok(!text.includes('hush'))
  assert.ok(text.includes('{{secret:C}}') && text.includes('"type":"bearer"') && text.includes('"url":"u"'))
})
