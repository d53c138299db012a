import { Group } from '@mantine/core'
import { Icon } from '../../shared/icons/icon.tsx'
import { usePreference } from '../../shared/storage/preferences.ts'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { formatTime, type Zone } from '../../shared/time/format_time.ts'
import { type ExecutionsSearch, listFilters } from './executions_search.ts'
import classes from './filter_chips.module.css'

const NAMES: Partial<Record<keyof ExecutionsSearch, string>> = {
  request_id: 'request',
  min_ms: 'at least ms',
}
const TIMES = ['since', 'until']
// These have a field of their own above the list.
const SHOWN_ABOVE = ['tool', 'status', 'surface', 'min_ms']

interface FilterChipsProps {
  search: ExecutionsSearch
  onChange: (next: Partial<ExecutionsSearch>) => void
}

/** The filters that have no field of their own; a click removes one. */
export function FilterChips({ search, onChange }: FilterChipsProps) {
  const [zone] = usePreference('time-zone', 'local')
  const chips = Object.entries(listFilters(search)).filter(
    ([name, value]) => value !== undefined && !SHOWN_ABOVE.includes(name),
  )
  if (chips.length === 0) return null
  return (
    <Group gap={6} mb="sm">
      {chips.map(([name, value]) => {
        const label = NAMES[name as keyof ExecutionsSearch] ?? name
        const text = TIMES.includes(name) ? formatTime(String(value), zone as Zone) : spellHidden(String(value))
        return (
          <button
            key={name}
            type="button"
            className={classes.chip}
            aria-label={`Remove the filter: ${label} ${text}`}
            onClick={() => onChange({ [name]: undefined })}
          >
            <span className={classes.name}>{label}</span>
            {text}
            <Icon name="close" size={12} />
          </button>
        )
      })}
    </Group>
  )
}
