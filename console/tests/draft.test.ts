import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDialects, writeDialects } from '../src/pages/tool/model/dialect_choice.ts'
import {
  declaredPart,
  moveDraft,
  placeFaults,
  readChanges,
  startDraft,
  type Tool,
} from '../src/pages/tool/model/draft.ts'
import { compareToBefore, nameFields, restoringFields, type Version } from '../src/pages/tool/versions/version.ts'

const TOOL = {
  id: '1',
  version: 3,
  name: 'get_weather',
  description: 'The weather.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  tags: ['demo'],
  read_only: true,
  config: { mock_response: 1 },
} as unknown as Tool

test('only what differs from the tool is a change', () => {
  const draft = startDraft(TOOL)
  assert.deepEqual(readChanges(draft), { changes: {} })
  const reordered = '{"properties": {"city": {"type": "string"}}, "type": "object"}'
  assert.deepEqual(readChanges({ ...draft, schema: reordered }).changes, {})
  assert.deepEqual(readChanges({ ...draft, name: 'weather', description: '' }).changes, {
    name: 'weather',
    description: null,
  })
  assert.deepEqual(readChanges({ ...draft, schema: '{}' }).changes, { input_schema: {} })
})

test('a schema that is no JSON object is a fault', () => {
  const draft = startDraft(TOOL)
  assert.match(readChanges({ ...draft, schema: '{"type": ' }).fault ?? '', /^Not valid JSON/)
  for (const schema of ['[]', 'null', '"text"', 'true']) {
    assert.match(readChanges({ ...draft, schema }).fault ?? '', /one JSON object/, schema)
  }
})

test('what is declared has the changes, and not the config', () => {
  const part = declaredPart(TOOL, { description: 'New.' })
  assert.equal(part.description, 'New.')
  assert.equal(part.name, 'get_weather')
  assert.equal('config' in part, false)
})

test('on a newer version, what was typed stays, and the rest is of the newer version', () => {
  const newer = { ...TOOL, version: 4, name: 'weather_now', description: 'Theirs.' }
  const moved = moveDraft({ ...startDraft(TOOL), description: 'Mine.' }, newer)
  assert.equal(moved.base.version, 4)
  assert.deepEqual([moved.name, moved.description], ['weather_now', 'Mine.'])
  assert.deepEqual(readChanges(moved).changes, { description: 'Mine.' })
})

test('faults are placed at their fields', () => {
  const faults = placeFaults([
    { field: 'tools.0 name', message: 'too long' },
    { field: 'tools.0 input_schema', message: 'one' },
    { field: 'input_schema', message: 'two' },
    { field: 'config.url', message: 'elsewhere' },
  ])
  assert.deepEqual(faults, { name: 'too long', input_schema: 'one; two' })
})

test('the dialects of an address are at most three, each once', () => {
  assert.deepEqual(readDialects('mcp, mcp,,plain,a2a,ollama'), ['mcp', 'plain', 'a2a'])
  assert.equal(readDialects(undefined).length, 2)
  assert.equal(writeDialects(['a', 'b', 'c', 'd']), 'b,c,d')
})

const version = (number: number, definition: object) => ({ version: number, definition }) as unknown as Version

test('what a version changed is named by its fields, without the state of the tool', () => {
  const first = version(1, { name: 'a', config: { url: 'x', method: 'GET' }, drifted: false })
  const second = version(2, { name: 'a', config: { url: 'y', method: 'PUT' }, tags: ['t'], drifted: true })
  const { differences } = compareToBefore(second, first)
  assert.equal(nameFields(differences), 'config, tags')
  assert.equal('drifted' in restoringFields(second), false)
})

test('many changed fields are named in short', () => {
  const many = Object.fromEntries(Array.from({ length: 7 }, (_, place) => [`field_${place}`, 1]))
  const { differences } = compareToBefore(version(2, many), version(1, {}))
  assert.equal(nameFields(differences), 'field_0, field_1, field_2, field_3 and 3 more')
})
