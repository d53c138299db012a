import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import type { Draft, Part } from './draft.ts'

const CodeEditor = lazy(() => import('../../../shared/editor/code_editor.tsx'))

interface DraftFormProps {
  draft: Draft
  faults: Partial<Record<Part, string>>
  onChange: (next: Partial<Draft>) => void
  onSubmit: () => void
}

/** The fields of a tool that models get. */
export function DraftForm({ draft, faults, onChange, onSubmit }: DraftFormProps) {
  return (
    <Stack gap="sm">
      <TextInput
        label="Name"
        value={draft.name}
        error={faults.name && <ForeignText limit={600}>{faults.name}</ForeignText>}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        spellCheck={false}
        ff="monospace"
      />
      <Textarea
        label="Description"
        description="What the tool does and when to call it, for the model"
        value={draft.description}
        error={faults.description && <ForeignText limit={600}>{faults.description}</ForeignText>}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        rows={4}
      />
      <div>
        <Text size="sm" fw={500} mb={4}>
          Schema of the arguments
        </Text>
        <Suspense fallback={<ListOutline rows={4} />}>
          <CodeEditor
            language="json"
            label="Schema of the arguments"
            value={draft.schema}
            onChange={(schema) => onChange({ schema })}
            onSubmit={onSubmit}
          />
        </Suspense>
        {faults.input_schema && (
          <Text size="sm" c="var(--board-bad)" role="status" mt={4}>
            <ForeignText limit={600}>{faults.input_schema}</ForeignText>
          </Text>
        )}
      </div>
    </Stack>
  )
}
