import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameBrowser } from '../src/pages/settings/account/browser_name.ts'
import { describeFindings } from '../src/pages/settings/journal/finding_words.ts'
import { describeEffects } from '../src/pages/settings/secrets/describe_effects.ts'

test('a browser is named by its User-Agent, and not guessed', () => {
  const chrome = 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36'
  assert.equal(nameBrowser(chrome), 'Chrome on Windows')
  assert.equal(nameBrowser(`${chrome} Edg/150.0`), 'Edge on Windows')
  assert.equal(nameBrowser('Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko Firefox/150.0'), 'Firefox on Linux')
  assert.equal(nameBrowser('Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) Safari/604.1'), 'Safari on iOS')
  assert.equal(nameBrowser('curl/8.0'), undefined)
})

test('the removal of a secret names what will fail', () => {
  const use = (name: string) => ({ type: 'tool' as const, id: name, name })
  assert.deepEqual(describeEffects({ used_by: [], uses: 0 }).at(-1), 'No tool of yours uses it.')
  const server = { type: 'upstream' as const, id: 'u', name: 'talker' }
  const effects = describeEffects({ used_by: [use('one\u202e'), server], uses: 2 })
  assert.equal(effects.at(-1), 'Calls fail until you set it again: one⟨U+202E⟩, the MCP server talker.')
  const many = Array.from({ length: 100 }, (_, index) => use(`t${index}`))
  assert.match(describeEffects({ used_by: many, uses: 250 }).at(-1) ?? '', /t9 and 240 more\.$/)
})

test('violations are counted in words', () => {
  assert.equal(describeFindings({ changed: 2, cut: 1 }), '2 × rows changed, 1 × rows missing at the end')
  assert.equal(describeFindings({}), '')
})
