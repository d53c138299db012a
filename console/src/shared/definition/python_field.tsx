import type { FieldProps } from '@rjsf/utils'
import { lazy, Suspense } from 'react'
import { ListOutline } from '../states/list_outline.tsx'
import { FieldLabel } from './field_label.tsx'

const CodeEditor = lazy(() => import('../editor/code_editor.tsx'))

/** A field for Python code. */
export function PythonField({ formData, onChange, fieldPathId, schema, name, required, rawErrors }: FieldProps) {
  return (
    <FieldLabel name={name} isRequired={required} description={schema.description} errors={rawErrors}>
      <Suspense fallback={<ListOutline rows={3} />}>
        <CodeEditor
          language="python"
          label={`${name} in Python`}
          value={typeof formData === 'string' ? formData : ''}
          onChange={(code) => onChange(code, fieldPathId.path)}
        />
      </Suspense>
    </FieldLabel>
  )
}
