import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listChanges } from '../src/pages/imports/changes.ts'
import {
  buildMcpBody,
  buildOpenApiBody,
  EMPTY_FORM,
  findMissing,
  isSameBody,
  splitCommand,
} from '../src/pages/new_import/import_form.ts'
import { countOutcomes, type ImportReport, listRows } from '../src/pages/new_import/report_rows.ts'

const NOTHING = { created: [], updated: [], unchanged: [], drifted: [], gone: [] }
const REPORT: ImportReport = { ...NOTHING, left_out: [], warnings: [], changes: {} }

test('a command is split as a POSIX shell does it', () => {
  assert.deepEqual(splitCommand(`npx  -y 'a b' "c 'd'" e\\ f ''`), ['npx', '-y', 'a b', "c 'd'", 'e f', ''])
  assert.deepEqual(splitCommand(`  "a\\"b" '\\n'  `), ['a"b', '\\n'])
  assert.deepEqual(splitCommand('   '), [])
})

test('a request has what was typed, and credentials only as references to secrets', () => {
  const form = {
    ...EMPTY_FORM,
    serverUrl: ' https://a.example/mcp ',
    variables: 'X-Team=a=b\n\n Y = {{secret:y}}',
    include: 'get_*, list_*\n',
    credentials: 'bearer' as const,
    secret: 'token',
    visibility: 'public' as const,
  }
  assert.deepEqual(buildMcpBody(form, 'url'), {
    server_url: 'https://a.example/mcp',
    headers: { 'X-Team': 'a=b', Y: '{{secret:y}}' },
    follow: false,
    prefix: '',
    include: ['get_*', 'list_*'],
    is_public: true,
    auth_config: { type: 'bearer', token: '{{secret:token}}' },
  })
  assert.equal(findMissing({ ...form, secret: '' }, 'url', true), 'Choose the secret of the credentials first')
  assert.equal(findMissing(form, 'command', true), 'Type the command first')
})

test('a request is the same as long as its document and its fields are', () => {
  const document = { name: 'a.yaml', text: 'openapi: 3.1.0' }
  const body = buildOpenApiBody({ ...EMPTY_FORM, document }, 'file')
  assert.ok(isSameBody(body, buildOpenApiBody({ ...EMPTY_FORM, document: { ...document } }, 'file')))
  assert.ok(!isSameBody(body, buildOpenApiBody({ ...EMPTY_FORM, document, prefix: 'a_' }, 'file')))
  assert.ok(!isSameBody(body, buildOpenApiBody({ ...EMPTY_FORM, document: { ...document, text: '' } }, 'file')))
})

test('a report becomes lines: reasons stay with the tool that is imported in part', () => {
  const report: ImportReport = {
    ...REPORT,
    created: ['a'],
    updated: ['b'],
    changes: { b: { description: { before: 'old', after: 'new' } } },
    left_out: [
      { name: 'TRACE /x', reason: 'tools do not send TRACE requests' },
      { name: 'a', reason: 'one part' },
      { name: 'a', reason: 'another part' },
    ],
    prompts: { ...NOTHING, unchanged: ['p'], changes: {}, digests: {} },
  }
  const rows = listRows(report)
  assert.deepEqual(
    rows.map(({ outcome, kind, name, reasons }) => [outcome, kind, name, reasons.length]),
    [
      ['created', 'tool', 'a', 2],
      ['updated', 'tool', 'b', 0],
      ['unchanged', 'prompt', 'p', 0],
      ['left_out', 'tool', 'TRACE /x', 1],
    ],
  )
  const counts = { created: 1, updated: 1, drifted: 0, unchanged: 1, gone: 0, left_out: 1 }
  assert.deepEqual(countOutcomes(rows), counts)
})

test('a change has the digest that was reviewed, and not as a field', () => {
  const config = { before: { tool: 'a', pinned: '1' }, after: { tool: 'a', pinned: '2' } }
  const resources = {
    ...NOTHING,
    drifted: ['r'],
    gone: ['s'],
    changes: { r: { title: { before: 'R', after: null } } },
    digests: { r: '3' },
  }
  const changes = listChanges({
    ...REPORT,
    upstream_id: null,
    drifted: ['a'],
    changes: { a: { config, description: { before: null, after: 'x' } } },
    resources,
  })
  assert.deepEqual(
    changes.map(({ kind, name, digest, isGone }) => [kind, name, digest, isGone]),
    [
      ['tool', 'a', '2', false],
      ['resource', 'r', '3', false],
      ['resource', 's', undefined, true],
    ],
  )
  const shown = JSON.parse(JSON.stringify(changes[0]))
  assert.deepEqual(shown.before, { config: { tool: 'a' }, description: null })
  assert.deepEqual(shown.after, { config: { tool: 'a' }, description: 'x' })
})
