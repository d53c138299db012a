import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { parseExactly } from '../src/shared/json/exact_json.ts'
import { writeCurl, writePythonValue } from '../src/shared/snippets/call_snippets.ts'
import { quoteShell } from '../src/shared/snippets/quote.ts'

const TEXT = `it's "quoted" $HOME \`date\` \\ and\na new line, 😀 \u202e`

test('the shell reads a quoted text as it is', () => {
  assert.equal(execFileSync('sh', ['-c', `printf %s ${quoteShell(TEXT)}`], { encoding: 'utf8' }), TEXT)
})

test('Python reads a written value as it is', () => {
  const text = JSON.stringify({ text: TEXT, list: [1, 2.5, null, true, [], {}], nested: { 'a"b': -1 } })
  const code = `import json; print(json.dumps(${writePythonValue(JSON.parse(text))}))`
  assert.deepEqual(JSON.parse(execFileSync('python3', ['-c', code], { encoding: 'utf8' })), JSON.parse(text))
})

test('numbers keep their digits in every language', () => {
  const value = parseExactly('{"n": 12345678901234567890}')
  assert.ok(
    writeCurl({ address: 'http://127.0.0.1', tool: 't', arguments: value }).includes('{"n":12345678901234567890}'),
  )
  assert.ok(writePythonValue(value).includes('12345678901234567890'))
})

test('a command has no key in it, but a variable', () => {
  const text = writeCurl({ address: 'http://127.0.0.1:8080', tool: 'get_weather', arguments: {} })
  assert.ok(text.includes('"Authorization: Bearer $PEGBOARD_KEY"'))
})
