import { Text } from '@mantine/core'
import type { FieldProps } from '@rjsf/utils'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { formatJson, parseExactly } from '../json/exact_json.ts'
import { ListOutline } from '../states/list_outline.tsx'
import { FieldLabel } from './field_label.tsx'

const CodeEditor = lazy(() => import('../editor/code_editor.tsx'))

/** What the fields of a definition report: whether their text is broken. */
export interface DefinitionFormContext {
  onBroken: (id: string, isBroken: boolean) => void
}

/** A field for any JSON; its value is JSON text. Broken text stays as it is typed; the definition keeps the last value that was valid. */
export function JsonField({
  formData,
  onChange,
  fieldPathId,
  schema,
  name,
  required,
  rawErrors,
  registry,
}: FieldProps) {
  const given = typeof formData === 'string' ? formData : ''
  const [text, setText] = useState(given)
  const [fault, setFault] = useState<string>()
  const last = useRef(given)
  const { onBroken } = registry.formContext as DefinitionFormContext
  const id = fieldPathId.$id
  useEffect(() => {
    if (given === last.current) return
    last.current = given
    setText(given)
    setFault(undefined)
  }, [given])
  useEffect(() => {
    onBroken(id, fault !== undefined)
    return () => onBroken(id, false)
  }, [id, fault, onBroken])
  const change = (next: string) => {
    setText(next)
    try {
      const value = next.trim() === '' ? undefined : formatJson(parseExactly(next))
      last.current = value ?? ''
      setFault(undefined)
      onChange(value, fieldPathId.path)
    } catch (error) {
      setFault(`Not valid JSON: ${(error as Error).message}`)
    }
  }
  return (
    <FieldLabel name={name} isRequired={required} description={schema.description} errors={rawErrors}>
      <Suspense fallback={<ListOutline rows={2} />}>
        <CodeEditor language="json" label={`${name} as JSON`} value={text} onChange={change} />
      </Suspense>
      {fault && (
        <Text size="xs" c="var(--board-bad)" role="status">
          {fault}
        </Text>
      )}
    </FieldLabel>
  )
}
