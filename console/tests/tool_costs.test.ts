import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costByDialect, costByTool, formatChange } from '../src/pages/agent/tools/tool_costs.ts'

const finding = (severity: 'refuse' | 'misread' | 'note') => ({ severity, field: 'name', message: 'why' })
const LINT = {
  counted: 'bytes divided by 4',
  providers: [
    {
      dialect: 'openai_chat',
      tokens: 205,
      findings: [{ severity: 'refuse' as const, field: 'tools', message: 'too many' }],
      tools: [
        { tool: 'add', name: 'add', tokens: 80, findings: [finding('note')] },
        { tool: '__proto__', name: 'p', tokens: 120, findings: [finding('misread'), finding('refuse')] },
      ],
    },
    {
      dialect: 'mcp',
      tokens: 90,
      findings: [],
      tools: [{ tool: 'add', name: 'add', tokens: 90, findings: [finding('misread')] }],
    },
  ],
}

test('each tool has the range of its tokens, and the dialects that refuse or misread it', () => {
  const costs = costByTool(LINT)
  assert.deepEqual(costs.get('add'), { least: 80, most: 90, refusedBy: [], misreadBy: ['mcp'] })
  assert.deepEqual(costs.get('__proto__')?.refusedBy, ['openai_chat'])
})

test('each dialect has the tokens of all tools and how many it refuses', () => {
  const [openai, mcp] = costByDialect(LINT)
  assert.deepEqual(openai, { dialect: 'openai_chat', tokens: 205, refused: 1, misread: 0, findings: ['too many'] })
  assert.deepEqual([mcp?.tokens, mcp?.misread], [90, 1])
  const empty = { ...LINT, providers: [{ dialect: 'mcp', tokens: 1, findings: [], tools: [] }] }
  assert.equal(costByDialect(empty)[0]?.tokens, 0)
})

test('a change has its sign', () => {
  assert.deepEqual([formatChange(1500, 0), formatChange(1, 3), formatChange(2, 2)], ['+1,500', '−2', '±0'])
})
