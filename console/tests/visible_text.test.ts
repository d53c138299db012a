import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutText, spellHidden, splitHidden } from '../src/shared/text/visible_text.ts'

test('bidirectional, zero-width, control and tag characters are spelled out', () => {
  assert.equal(spellHidden('a\u202eb\u200bc\u0007d\u{e0041}'), 'a⟨U+202E⟩b⟨U+200B⟩c⟨U+0007⟩d⟨U+E0041⟩')
})

test('line breaks, tabs, letters of every script and coloured emoji are kept', () => {
  const text = 'one\ntwo\r\n\tдва 二 ❤️'
  assert.equal(spellHidden(text), text)
})

test('half of a surrogate pair is spelled out', () => {
  assert.equal(spellHidden('a\ud83d'), 'a⟨U+D83D⟩')
})

test('an empty text is one empty part', () => {
  assert.deepEqual(splitHidden(''), [{ text: '', isHidden: false }])
})

test('a cut never leaves half of a character, and says how much is left', () => {
  assert.deepEqual(cutText('ab😀c', 3), { text: 'ab', left: 3 })
  assert.deepEqual(cutText('abc', 3), { text: 'abc', left: 0 })
})
