import { Code } from '@mantine/core'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'

/** One setting and its value. */
export function SettingRow({ name, value }: { name: string; value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <>
      <dt>
        <Code>{name}</Code>
      </dt>
      <dd>{value === null || value === '' ? 'not set' : <ForeignText isMono>{text}</ForeignText>}</dd>
    </>
  )
}
