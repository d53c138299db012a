import { Text } from '@mantine/core'
import { errorId, type FieldErrorProps } from '@rjsf/utils'

/** The errors of an object or a list; a field with an input shows its own. */
export function GroupErrors({ errors, fieldPathId, schema }: FieldErrorProps) {
  if (!errors?.length || (schema.type !== 'object' && schema.type !== 'array')) return null
  return (
    <Text id={errorId(fieldPathId)} size="xs" c="var(--board-bad)" component="div">
      {errors.map((error) => (
        <div key={String(error)}>{error}</div>
      ))}
    </Text>
  )
}
