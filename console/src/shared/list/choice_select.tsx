import { NativeSelect } from '@mantine/core'

interface ChoiceSelectProps<T extends string> {
  label: string
  value: T | undefined
  choices: readonly { value: T; label: string }[]
  all: string
  onChange: (value: T | undefined) => void
}

/** Chooses one value of a filter, or all. */
export function ChoiceSelect<T extends string>({ label, value, choices, all, onChange }: ChoiceSelectProps<T>) {
  return (
    <NativeSelect
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(choices.find((choice) => choice.value === event.currentTarget.value)?.value)}
      data={[{ value: '', label: all }, ...choices]}
    />
  )
}
