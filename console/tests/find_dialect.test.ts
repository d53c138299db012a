import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findDialect, findNearest, listNames } from '../src/shared/dialect/find_dialect.ts'

const ALL = [
  { name: 'openai_chat', aliases: ['openai'], abilities: ['parse', 'render', 'define', 'history'] },
  { name: 'anthropic_messages', aliases: ['anthropic', 'claude'], abilities: ['parse', 'render', 'define', 'history'] },
  { name: 'detailed', aliases: [], abilities: ['render', 'define'] },
  { name: 'plain', aliases: [], abilities: ['parse', 'render', 'define'] },
]

test("the board's own dialect is listed first, the others by name", () => {
  assert.deepEqual(listNames(ALL, 'render'), ['plain', 'anthropic_messages', 'detailed', 'openai_chat'])
  assert.deepEqual(listNames(ALL, 'history'), ['anthropic_messages', 'openai_chat'])
})

test('a dialect is found by its name and by its aliases, if it has the ability', () => {
  assert.equal(findDialect(ALL, 'claude', 'history'), 'anthropic_messages')
  assert.equal(findDialect(ALL, 'openai_chat', 'define'), 'openai_chat')
  assert.equal(findDialect(ALL, 'plain', 'history'), undefined)
  assert.equal(findDialect(ALL, '__proto__', 'define'), undefined)
})

test('the nearest dialect to a misspelt name has the ability', () => {
  assert.equal(findNearest(ALL, 'openia_chats', 'define'), 'openai_chat')
  assert.equal(findNearest(ALL, 'Anthropics', 'define'), 'anthropic_messages')
  assert.equal(findNearest(ALL, 'plain_chat', 'history'), 'openai_chat')
  assert.equal(findNearest(ALL, '🦆', 'define'), undefined)
})
