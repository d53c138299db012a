import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromFormValue, openFields, toFormValue } from '../src/shared/definition/form_values.ts'
import { parseExactly } from '../src/shared/json/exact_json.ts'

const UI = {
  config: { any: { 'ui:field': 'json' }, list: { items: { when: { 'ui:field': 'json' } } } },
  schema: { 'ui:field': 'json' },
}

test('values of JSON are text in the form, and come out with every digit and member', () => {
  const text =
    '{"name":"x","config":{"any":12345678901234567890,"list":[{"when":{"a":null},"b":1}]},"schema":{"__proto__":{"c":1}}}'
  const shown = toFormValue(parseExactly(text), UI) as { config: { any: unknown }; schema: unknown }
  assert.equal(shown.config.any, '12345678901234567890')
  assert.equal(typeof shown.schema, 'string')
  assert.equal(JSON.stringify(fromFormValue(structuredClone(shown), UI)), text)
})

test('the schema of the form takes any text for JSON', () => {
  const schema = {
    type: 'object',
    properties: {
      config: {
        type: 'object',
        properties: {
          any: { type: 'object', default: {}, description: 'd' },
          list: { type: 'array', items: { properties: { when: { type: 'object' }, b: { type: 'integer' } } } },
        },
      },
      schema: { type: 'object', additionalProperties: true },
    },
  }
  assert.deepEqual(JSON.parse(JSON.stringify(openFields(schema, UI))), {
    type: 'object',
    properties: {
      config: {
        type: 'object',
        properties: {
          any: { description: 'd' },
          list: { type: 'array', items: { properties: { when: {}, b: { type: 'integer' } } } },
        },
      },
      schema: {},
    },
  })
})
