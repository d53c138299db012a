import { Group, TextInput } from '@mantine/core'
import { DialectSelect } from '../../../shared/dialect/dialect_select.tsx'

interface CallOptionsProps {
  canRepeat: boolean
  dialect: string
  onDialect: (dialect: string) => void
  idempotencyKey: string
  onIdempotencyKey: (key: string) => void
}

/** The dialect of the answer, and the idempotency key of tools with effects. */
export function CallOptions({ canRepeat, dialect, onDialect, idempotencyKey, onIdempotencyKey }: CallOptionsProps) {
  return (
    <Group gap="sm" mt="sm">
      <DialectSelect
        size="xs"
        flex="1 1 140px"
        label="Answer as"
        ability="render"
        value={dialect}
        onChange={onDialect}
      />
      {!canRepeat && (
        <TextInput
          size="xs"
          flex="1 1 170px"
          label="Idempotency key (optional)"
          placeholder="runs once for each key"
          value={idempotencyKey}
          maxLength={255}
          onChange={(event) => onIdempotencyKey(event.currentTarget.value)}
        />
      )}
    </Group>
  )
}
