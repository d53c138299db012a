import { Group, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { dialectsQuery } from './dialects_query.ts'

interface CallOptionsProps {
  canRepeat: boolean
  dialect: string
  onDialect: (dialect: string) => void
  idempotencyKey: string
  onIdempotencyKey: (key: string) => void
}

/** The dialect of the answer, and the idempotency key of tools with effects. */
export function CallOptions({ canRepeat, dialect, onDialect, idempotencyKey, onIdempotencyKey }: CallOptionsProps) {
  const names = useQuery(dialectsQuery).data ?? [dialect]
  return (
    <Group gap="sm" mt="sm">
      <NativeSelect
        size="xs"
        flex="1 1 140px"
        label="Answer as"
        value={dialect}
        data={names}
        onChange={(event) => onDialect(event.currentTarget.value)}
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
