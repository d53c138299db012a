import { Text } from '@mantine/core'
import { type ArrayFieldTitleProps, titleId } from '@rjsf/utils'

/** The name of a list in a form. */
export function ArrayTitle({ fieldPathId, title, required, optionalDataControl }: ArrayFieldTitleProps) {
  return (
    <>
      <Text id={titleId(fieldPathId)} span size="sm" fw={600}>
        {title}
        {required && (
          <Text span c="var(--board-bad)" aria-hidden="true">
            {' *'}
          </Text>
        )}
      </Text>
      {optionalDataControl}
    </>
  )
}
