import { PasswordInput } from '@mantine/core'
import type { WidgetProps } from '@rjsf/utils'
import { MASK } from './hidden_secrets.ts'

/** A field for a value that may be a secret: a stored one is not shown, and stays unless it is replaced. */
export function SecretWidget({ id, name, value, label, hideLabel, rawErrors, onChange }: WidgetProps) {
  const isStored = value === MASK
  return (
    <PasswordInput
      id={id}
      name={name}
      label={hideLabel ? undefined : label}
      aria-label={hideLabel ? label : undefined}
      value={isStored || typeof value !== 'string' ? '' : value}
      placeholder={isStored ? 'Stored; type to replace it' : 'A value, or {{secret:NAME}}'}
      autoComplete="off"
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the value' }}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={rawErrors?.length ? rawErrors.join('\n') : undefined}
    />
  )
}
