import { Button, Group, Stack, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { offerUndo } from '../../../shared/action/offer_undo.tsx'
import { ApiError } from '../../../shared/api/api_error.ts'
import { changeTool } from '../../../shared/definition/definition_requests.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { NewerVersion } from '../newer_version.tsx'
import { useSavedTool } from '../use_saved_tool.ts'
import { type Draft, moveDraft, type Part, placeFaults, readChanges, startDraft, type Tool } from './draft.ts'
import { DraftForm } from './draft_form.tsx'

interface EditPartProps {
  tool: Tool
  draft: Draft
  /** What the board refuses in the draft. */
  faults: Partial<Record<Part, string>>
  isChecked: boolean
  onChange: (draft: Draft | undefined) => void
}

/** The form for what models get, with the buttons that save it and discard it. */
export function EditPart({ tool, draft, faults, isChecked, onChange }: EditPartProps) {
  const queryClient = useQueryClient()
  const showSaved = useSavedTool()
  const { changes, fault } = readChanges(draft)
  const isChanged = Object.keys(changes).length > 0
  const isNewer = tool.version > draft.base.version
  const save = useMutation({
    mutationFn: () => changeTool(tool.id, { ...changes, version: draft.base.version }, false),
    onSuccess: async (saved) => {
      const before = Object.fromEntries(Object.keys(changes).map((field) => [field, draft.base[field as Part]]))
      onChange(undefined)
      await showSaved(saved)
      offerUndo({
        message: `Saved version ${saved.version} of ${spellHidden(saved.name)}`,
        undo: async () => {
          await changeTool(saved.id, { ...before, version: saved.version }, false)
          await queryClient.invalidateQueries({ queryKey: ['tool', saved.id] })
        },
        undone: `${spellHidden(draft.base.name)} is as it was`,
      })
    },
    // Of another version, or of a name that is taken; the newest version says which.
    onError: (error) => {
      if (error instanceof ApiError && error.status === 409)
        void queryClient.invalidateQueries({ queryKey: ['tool', tool.id] })
    },
  })
  const { error } = save
  const refused = error instanceof ApiError && error.status === 422 ? placeFaults(error.faults) : {}
  const isShownAtField = Object.keys(refused).length > 0
  const isStale = isNewer && error instanceof ApiError && error.status === 409
  const canSave = isChanged && isChecked && fault === undefined && !isNewer
  const submit = () => {
    if (canSave && !save.isPending) save.mutate()
  }
  const change = (next: Partial<Draft>) => {
    if (error) save.reset()
    onChange({ ...draft, ...next })
  }
  return (
    <Stack gap="sm" component="section" aria-label="Edit what models get">
      <Title order={2}>Edit what models get</Title>
      {isNewer && (
        <NewerVersion
          base={draft.base}
          tool={tool}
          onKeep={() => change(moveDraft(draft, tool))}
          onDiscard={() => change(startDraft(tool))}
        />
      )}
      <DraftForm
        draft={draft}
        faults={{ ...faults, ...refused, ...(fault !== undefined && { input_schema: fault }) }}
        onChange={change}
        onSubmit={submit}
      />
      {error && !isShownAtField && !isStale && <ErrorState error={error} what="The change" />}
      <Group gap="xs">
        <Button size="xs" disabled={!canSave} loading={save.isPending} onClick={submit}>
          Save
        </Button>
        <Button size="xs" variant="default" onClick={() => onChange(undefined)}>
          {isChanged || fault !== undefined ? 'Discard' : 'Close'}
        </Button>
      </Group>
    </Stack>
  )
}
