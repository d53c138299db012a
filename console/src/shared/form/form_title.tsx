import { Title } from '@mantine/core'
import type { TitleFieldProps } from '@rjsf/utils'

/** The title of a part of a form, below the headings of the page. */
export function FormTitle({ id, title, optionalDataControl }: TitleFieldProps) {
  return (
    <>
      <Title id={id} order={3} size="h5">
        {title}
      </Title>
      {optionalDataControl}
    </>
  )
}
