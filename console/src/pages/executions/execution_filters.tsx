import { Group } from '@mantine/core'
import { ChoiceSelect } from '../../shared/list/choice_select.tsx'
import { FilterInput } from '../../shared/list/filter_input.tsx'
import type { ExecutionsSearch } from './executions_search.ts'
import { STATUS_CHOICES } from './status_text.ts'
import { TimeInput } from './time_input.tsx'

const SURFACE_CHOICES = [
  { value: 'rest', label: 'REST' },
  { value: 'mcp', label: 'MCP' },
  { value: 'cli', label: 'Command line' },
  { value: 'library', label: 'Library' },
  { value: 'console', label: 'Console' },
] as const
const HOUR_MS = 3_600_000
const SPANS = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
] as const
const DURATIONS = [
  { value: '100', label: '100 ms or more' },
  { value: '1000', label: '1 s or more' },
  { value: '10000', label: '10 s or more' },
] as const

interface ExecutionFiltersProps {
  search: ExecutionsSearch
  onChange: (next: Partial<ExecutionsSearch>) => void
}

/** The filters of the journal. */
export function ExecutionFilters({ search, onChange }: ExecutionFiltersProps) {
  return (
    <Group gap="xs" mb="sm">
      <FilterInput
        value={search.tool ?? ''}
        label="Filter by tool"
        onChange={(tool) => onChange({ tool: tool || undefined })}
      />
      <ChoiceSelect
        label="Status"
        all="Any status"
        value={search.status}
        choices={STATUS_CHOICES}
        onChange={(status) => onChange({ status })}
      />
      <ChoiceSelect
        label="Surface"
        all="Any surface"
        value={search.surface}
        choices={SURFACE_CHOICES}
        onChange={(surface) => onChange({ surface })}
      />
      <ChoiceSelect
        label="Time"
        all={search.since ? 'Since …' : 'Any time'}
        value={undefined}
        choices={SPANS}
        onChange={(hours) =>
          onChange({ since: hours && new Date(Date.now() - Number(hours) * HOUR_MS).toISOString(), until: undefined })
        }
      />
      <ChoiceSelect
        label="Duration"
        all="Any duration"
        value={DURATIONS.find(({ value }) => value === String(search.min_ms))?.value}
        choices={DURATIONS}
        onChange={(ms) => onChange({ min_ms: ms === undefined ? undefined : Number(ms) })}
      />
      <TimeInput value={search.until} onChange={(until) => onChange({ until })} />
    </Group>
  )
}
