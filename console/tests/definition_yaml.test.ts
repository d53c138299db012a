import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPlace, parseYaml, updateYaml, writeYaml } from '../src/shared/definition/definition_yaml.ts'
import { formatJson, parseExactly } from '../src/shared/json/exact_json.ts'

const json = (text: string) => JSON.stringify(parseYaml(text).value)

test('a definition is written and read back as the same value, digit for digit', () => {
  const value = parseExactly(
    '{"name":"on","code":"def f():\\n    return 1\\n","big":123456789012345678901234567890,"x":1.00000000000000000001,' +
      '"date":"2020-01-01","no":"no","octal":"0o7","hex":"0x1f","tilde":"~","list":[],"map":{"__proto__":{"a":null}}}',
  )
  const text = writeYaml(value)
  assert.match(text, /code: \|\n {2}def f\(\):/)
  assert.match(text, /big: 123456789012345678901234567890\n/)
  assert.equal(formatJson(parseYaml(text).value), formatJson(value))
})

test('a change keeps comments and what is not changed', () => {
  const text = '# mine\nname: a  # the name\nconfig:\n  url: x # where\n  method: GET\ntags: [one, two]\n'
  const updated = updateYaml(text, { name: 'b', config: { url: 'x', method: 'PUT', timeout: 3 }, tags: ['one', 'two'] })
  assert.match(updated, /# mine\nname: b/)
  assert.match(updated, /url: x # where\n {2}method: PUT\n {2}timeout: 3/)
  assert.equal(json(updateYaml(text, { name: 'a' })), '{"name":"a"}')
})

test('an alias and a merged mapping become values, and a change of them is written out', () => {
  const text = 'base: &b {x: 1}\ncopy: *b\nconfig: {<<: *b, y: 2}\n'
  assert.equal(json(text), '{"base":{"x":1},"copy":{"x":1},"config":{"y":2,"x":1}}')
  const after = { base: { x: 9 }, copy: { x: 1 }, config: { y: 2, x: 1 } }
  assert.equal(json(updateYaml(text, after)), JSON.stringify(after))
})

test('faults have their place', () => {
  for (const [text, part, message] of [
    ['a: 1\na: 2\n', 'a', /unique/],
    ['a: !file x\n', 'x', /tag/],
    ['a: .inf\n', '.inf', /not a number in JSON/],
    ['[1]: 2\n', '[1]', /key/],
    ['a: [1,\n', '', /]/],
    ['- 1\n', '- 1', /one mapping/],
  ] as const) {
    const { value, faults } = parseYaml(text)
    assert.equal(value, undefined, text)
    const fault = faults[0]
    assert.ok(fault, text)
    assert.match(fault.message, message)
    assert.ok(text.slice(fault.from, fault.to).startsWith(part), text)
  }
})

test('aliases that multiply are refused', () => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const inner = level === 0 ? 'x' : `*a${level - 1}`
    return `a${level}: &a${level} [${Array(9).fill(inner).join(', ')}]`
  })
  assert.match(parseYaml(levels.join('\n')).faults[0]?.message ?? '', /more than/)
  assert.match(parseYaml(`a: ${'['.repeat(200)}${']'.repeat(200)}`).faults[0]?.message ?? '', /levels deep/)
  assert.match(parseYaml('a'.repeat(1_000_001)).faults[0]?.message ?? '', /longer/)
})

test('a path of a fault is found in the text, or what is around it', () => {
  const text = 'name: x\nconfig:\n  url: y\n  items:\n    - a\n    - b: 1\n'
  const part = (...path: string[]) => {
    const { from, to } = findPlace(text, path)
    return text.slice(from, to)
  }
  assert.equal(part('config', 'url'), 'url: y')
  assert.equal(part('config', 'method'), 'config:')
  assert.equal(part('config', 'items', '1', 'b'), 'b: 1')
  assert.equal(part('nothing'), 'name: x')
})
