import { TextInput } from '@mantine/core'
import { usePreference } from '../../shared/storage/preferences.ts'

interface TimeInputProps {
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** Jumps to a time: the newest call that is listed is the last one before it. */
export function TimeInput({ value, onChange }: TimeInputProps) {
  const [zone] = usePreference('time-zone', 'local')
  const isUtc = zone === 'utc'
  return (
    <TextInput
      type="datetime-local"
      w={196}
      aria-label={isUtc ? 'Jump to a time (UTC)' : 'Jump to a time'}
      title="List the calls that started before this time"
      value={value === undefined ? '' : writeField(value, isUtc)}
      onChange={(event) => {
        const text = event.currentTarget.value
        onChange(text === '' ? undefined : new Date(isUtc ? `${text}Z` : text).toISOString())
      }}
    />
  )
}

/** Return a time as the field writes it: `2026-11-19T14:05`, in the zone that the person prefers. */
function writeField(iso: string, isUtc: boolean): string {
  const time = new Date(iso)
  const shift = isUtc ? 0 : time.getTimezoneOffset() * 60_000
  return new Date(time.getTime() - shift).toISOString().slice(0, 16)
}
