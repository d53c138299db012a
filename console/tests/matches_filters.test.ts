import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Execution } from '../src/pages/executions/executions_query.ts'
import { matchesFilters } from '../src/pages/executions/matches_filters.ts'

const ROW = {
  id: 'r1',
  tool_name: 'get_weather',
  tool_id: 't1',
  status: 'failed',
  code: 'timeout',
  surface: 'rest',
  started_at: '2026-11-19T10:00:00Z',
  elapsed_ms: 120,
} as Execution

test('a call belongs to a list if all filters match', () => {
  assert.ok(matchesFilters(ROW, {}))
  assert.ok(matchesFilters(ROW, { tool: 't1', status: 'failed', min_ms: 100, since: '2026-11-19T10:00:00Z' }))
  for (const filters of [
    { tool: 'echo' },
    { status: 'succeeded' as const },
    { code: 'missing' },
    { surface: 'mcp' as const },
    { agent: 'a1' },
    { until: '2026-11-19T10:00:00Z' },
    { min_ms: 121 },
  ]) {
    assert.ok(!matchesFilters(ROW, filters), JSON.stringify(filters))
  }
})
