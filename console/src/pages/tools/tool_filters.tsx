import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { kindsQuery } from '../../shared/definition/kinds_query.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { ChoiceSelect } from '../../shared/list/choice_select.tsx'
import { STATES, type ToolsSearch } from './tools_search.ts'

const STATE_CHOICES = STATES.map((value) => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) }))
const ORDER_CHOICES = [{ value: 'updated_at', label: 'Last changed first' }] as const

interface ToolFiltersProps {
  search: ToolsSearch
  onChange: (next: Partial<ToolsSearch>) => void
}

/** The filters and the order of the list of tools. */
export function ToolFilters({ search, onChange }: ToolFiltersProps) {
  const kinds = useQuery({
    ...kindsQuery,
    select: (data) => data.items.map((kind) => ({ value: kind.name, label: kind.name })),
  })
  return (
    <>
      <ChoiceSelect
        label="Kind"
        all="All kinds"
        value={search.kind}
        choices={kinds.data ?? (search.kind ? [{ value: search.kind, label: search.kind }] : [])}
        onChange={(kind) => onChange({ kind })}
      />
      <ChoiceSelect
        label="State"
        all="All states"
        value={search.state}
        choices={STATE_CHOICES}
        onChange={(state) => onChange({ state })}
      />
      <ChoiceSelect
        label="Order"
        all="By name"
        value={search.sort === 'updated_at' ? search.sort : undefined}
        choices={ORDER_CHOICES}
        onChange={(sort) => onChange({ sort })}
      />
      {search.tag && (
        <Button
          variant="default"
          rightSection={<Icon name="close" size={14} />}
          onClick={() => onChange({ tag: undefined })}
          aria-label={`Remove the filter: tag ${search.tag}`}
        >
          Tag: {search.tag}
        </Button>
      )}
    </>
  )
}
