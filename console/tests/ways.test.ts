import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseTool, listWays } from '../src/pages/connect/ways.ts'

const CALL = { address: 'https://a.example/board', tool: 'say', arguments: { text: 'hello' } }

test('a client with two transports is one way, and requests call the tool of the examples', () => {
  const client = { name: 'cursor', title: 'the Cursor', language: 'json' as const, notes: [] }
  const clients = [
    { ...client, transport: 'http' as const, config: 'one' },
    { ...client, transport: 'stdio' as const, config: 'two' },
  ]
  const ways = listWays(clients, [], CALL)
  const names = ways.map(({ name }) => name)
  assert.deepEqual(names, ['curl', 'python', 'cli', 'library', 'cursor'])
  const cursor = ways.at(-1)
  assert.deepEqual(
    [cursor?.title, cursor?.isMcp, cursor?.texts.map(({ text }) => text)],
    ['Cursor', true, ['one', 'two']],
  )
  assert.ok(ways[0]?.texts[0]?.text.includes('https://a.example/board/v1/tools/say/call'))
})

test('without a choice only a harmless tool is called', () => {
  assert.equal(chooseTool(undefined, ['delete_all', 'echo']), 'echo')
  assert.equal(chooseTool(undefined, ['delete_all']), undefined)
  assert.equal(chooseTool('delete_all', ['echo']), 'delete_all')
})
