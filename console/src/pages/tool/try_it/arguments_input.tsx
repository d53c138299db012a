import { Alert, SegmentedControl, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import type { FieldErrors } from '../../../shared/form/field_errors.ts'
import { fitSchema } from '../../../shared/form/fit_schema.ts'
import type { useArguments } from '../../../shared/json/use_arguments.ts'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import classes from './try_it.module.css'

const JsonEditor = lazy(() => import('../../../shared/editor/json_editor.tsx'))
const SchemaForm = lazy(() => import('../../../shared/form/schema_form.tsx'))

export type InputMode = 'form' | 'json'

interface ArgumentsInputProps {
  schema: unknown
  args: ReturnType<typeof useArguments>
  errors: FieldErrors
  mode: InputMode
  onMode: (mode: InputMode) => void
  onSubmit: () => void
}

/** The arguments as a form or as JSON: one value behind both. */
export function ArgumentsInput({ schema, args, errors, mode, onMode, onSubmit }: ArgumentsInputProps) {
  const fitted = useMemo(() => fitSchema(schema), [schema])
  const noForm = args.fault ?? args.noForm
  return (
    <Stack gap="sm">
      <SegmentedControl
        size="xs"
        aria-label="Write arguments as"
        data={[
          { value: 'form', label: 'Form' },
          { value: 'json', label: 'JSON' },
        ]}
        value={mode}
        onChange={(next) => onMode(next as InputMode)}
        style={{ alignSelf: 'flex-start' }}
      />
      {mode === 'form' && noForm && (
        <Alert color="yellow" variant="light" title="The form cannot show these arguments">
          {noForm}
        </Alert>
      )}
      <Suspense fallback={<ListOutline rows={3} />}>
        {mode === 'json' && (
          <JsonEditor label="Arguments as JSON" value={args.text} onChange={args.setText} onSubmit={onSubmit} />
        )}
        {mode === 'form' && !noForm && fitted.schema && (
          <SchemaForm
            id="arguments"
            schema={fitted.schema}
            value={args.value}
            errors={errors}
            onChange={args.setValue}
            onSubmit={onSubmit}
          />
        )}
      </Suspense>
      {mode === 'json' && args.fault && (
        <Text size="sm" c="var(--board-bad)" role="status">
          {args.fault}
        </Text>
      )}
      {mode === 'form' && !fitted.schema && fitted.left.length === 0 && (
        <Text size="sm" c="dimmed">
          This tool takes no arguments.
        </Text>
      )}
      {mode === 'form' && fitted.left.length > 0 && (
        <div>
          <Text size="sm">Not in this form; write it as JSON:</Text>
          <ul className={classes.left}>
            {fitted.left.slice(0, 12).map((part) => (
              <li key={part}>
                <ForeignText limit={160}>{part}</ForeignText>
              </li>
            ))}
            {fitted.left.length > 12 && <li>{fitted.left.length - 12} more</li>}
          </ul>
        </div>
      )}
    </Stack>
  )
}
