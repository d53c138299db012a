import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface FieldLabelProps {
  name: string
  isRequired: boolean | undefined
  description: unknown
  children: ReactNode
  errors: string[] | undefined
}

/** A field of a definition with its name, what it is for, and its errors. */
export function FieldLabel({ name, isRequired, description, children, errors }: FieldLabelProps) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {name}
        {isRequired && (
          <Text span c="var(--board-bad)" aria-hidden="true">
            {' *'}
          </Text>
        )}
      </Text>
      {typeof description === 'string' && description !== '' && (
        <Text size="xs" c="dimmed" mb={4}>
          {description}
        </Text>
      )}
      {children}
      {errors?.map((error) => (
        <Text key={error} size="xs" c="var(--board-bad)">
          {error}
        </Text>
      ))}
    </div>
  )
}
