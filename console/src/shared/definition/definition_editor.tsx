import { Alert, Stack, Text, Title } from '@mantine/core'
import { CatchBoundary } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useMemo } from 'react'
import CodeEditor, { type TextFault } from '../editor/code_editor.tsx'
import { placeErrors, splitPath } from '../form/field_errors.ts'
import { hasRawNumber } from '../json/exact_json.ts'
import { ListOutline } from '../states/list_outline.tsx'
import classes from './definition.module.css'
import { findPlace } from './definition_yaml.ts'
import { DryRunStatus } from './dry_run_status.tsx'
import type { FormParts } from './form_parts.ts'
import { toFormValue } from './form_values.ts'
import type { DefinitionState } from './use_definition.ts'
import type { DryRun } from './use_dry_run.ts'

const DefinitionForm = lazy(() => import('./definition_form.tsx'))
const NO_ERRORS = {}

interface DefinitionEditorProps {
  parts: FormParts
  state: DefinitionState
  dryRun: DryRun
  onBroken: (id: string, isBroken: boolean) => void
  onSubmit: () => void
  /** What is done with the definition, below the YAML. */
  children: ReactNode
}

/** A definition as a form and as YAML: one value behind both. */
export default function DefinitionEditor(props: DefinitionEditorProps) {
  const { parts, state, dryRun, onBroken, onSubmit, children } = props
  const { text, value, faults: syntax } = state
  const errors = useMemo(() => (dryRun.faults.length > 0 ? placeErrors(dryRun.faults) : NO_ERRORS), [dryRun.faults])
  const faults = useMemo<TextFault[]>(() => {
    if (syntax.length > 0) return syntax
    return dryRun.faults.slice(0, 20).map(({ field, message }) => ({ ...findPlace(text, splitPath(field)), message }))
  }, [syntax, dryRun.faults, text])
  const noForm = useMemo(() => explainNoForm(value, parts), [value, parts])
  return (
    <div className={classes.columns}>
      <section className={classes.card} aria-label="Form">
        <Title order={2} mb="xs">
          Form
        </Title>
        {noForm !== undefined || value === undefined ? (
          <Alert color="yellow" variant="light" title="The form cannot show this definition">
            {noForm}
          </Alert>
        ) : (
          <CatchBoundary
            getResetKey={() => text}
            errorComponent={() => (
              <Alert color="yellow" variant="light" title="The form cannot show this definition">
                A value has another type than its field. Change it in the YAML.
              </Alert>
            )}
          >
            <Suspense fallback={<ListOutline rows={5} />}>
              <DefinitionForm {...{ parts, value, errors, onBroken, onSubmit }} onChange={state.change} />
            </Suspense>
          </CatchBoundary>
        )}
      </section>
      <div className={classes.beside}>
        <section className={classes.card} aria-label="YAML">
          <Stack gap="xs">
            <Title order={2}>As YAML</Title>
            <CodeEditor
              language="yaml"
              label="Definition as YAML"
              value={text}
              onChange={state.setText}
              onSubmit={onSubmit}
              faults={faults}
            />
            <DryRunStatus syntax={syntax} text={text} dryRun={dryRun} />
            <Text size="xs" c="dimmed">
              <code>********</code> stands for a stored secret, and keeps it. Ctrl Enter saves.
            </Text>
          </Stack>
        </section>
        {children}
      </div>
    </div>
  )
}

function explainNoForm(value: DefinitionState['value'], { main, more }: FormParts): string | undefined {
  if (value === undefined)
    return 'The YAML has a fault, which is shown at its place. The form is shown again when the YAML is valid.'
  return hasRawNumber(toFormValue(value, { ...more.ui, ...main.ui }))
    ? 'A number has more digits than a form can keep; change it as YAML.'
    : undefined
}
