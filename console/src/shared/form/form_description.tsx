import { Text } from '@mantine/core'
import type { DescriptionFieldProps } from '@rjsf/utils'

/** What a part of a form is for. */
export function FormDescription({ id, description }: DescriptionFieldProps) {
  if (!description) return null
  return (
    <Text id={id} size="xs" c="dimmed">
      {description}
    </Text>
  )
}
