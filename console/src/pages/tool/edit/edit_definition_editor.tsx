import { Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useAction } from '../../../shared/action/use_action.ts'
import { ApiError } from '../../../shared/api/api_error.ts'
import type { Schemas } from '../../../shared/api/client.ts'
import DefinitionEditor from '../../../shared/definition/definition_editor.tsx'
import { changeTool, exactToolQuery, readSaved } from '../../../shared/definition/definition_requests.ts'
import { makeChange } from '../../../shared/definition/definition_values.ts'
import { buildFormParts } from '../../../shared/definition/form_parts.ts'
import { useBrokenFields } from '../../../shared/definition/use_broken_fields.ts'
import { useDefinition } from '../../../shared/definition/use_definition.ts'
import { useDryRun } from '../../../shared/definition/use_dry_run.ts'
import type { SchemaNode } from '../../../shared/form/schema_node.ts'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { ChangeReview } from './change_review.tsx'
import { VersionConflict } from './version_conflict.tsx'

interface EditDefinitionProps {
  /** The tool as it is saved now, with all digits. */
  tool: Schemas['ToolResponse']
  configSchema: SchemaNode
  schema: SchemaNode
}

/** The definition of a tool with the difference to what is saved. A version of another user is never overwritten. */
export default function EditDefinition({ tool, configSchema, schema }: EditDefinitionProps) {
  const queryClient = useQueryClient()
  const kind = tool.tool_type
  const parts = useMemo(() => buildFormParts(schema, configSchema, kind), [schema, configSchema, kind])
  const latest = useMemo(() => readSaved(tool, schema), [tool, schema])
  const state = useDefinition(`tool ${tool.id}`, latest)
  const { base, value, isChanged, reset } = state
  const [hasBroken, onBroken] = useBrokenFields()
  const isOutdated = latest.version !== base.version

  useEffect(() => {
    if (isOutdated && !isChanged && !hasBroken) reset(latest)
  }, [isOutdated, isChanged, hasBroken, latest, reset])

  const change = useMemo(
    () => (value === undefined ? undefined : { ...makeChange(base.definition, value), version: base.version }),
    [value, base],
  )
  const isChecked = isChanged && !isOutdated && !hasBroken
  const dryRun = useDryRun(tool.id, isChecked ? change : undefined, (body) => changeTool(tool.id, body, true))
  const save = useAction({
    run: () => changeTool(tool.id, change ?? {}, false),
    changes: [['tool-list'], ['search']],
    onDone: (changed) => {
      reset(readSaved(changed, schema))
      queryClient.setQueryData(exactToolQuery(tool.id).queryKey, changed)
      void queryClient.invalidateQueries({ queryKey: ['tool'] })
      notifications.show({
        color: 'green',
        message: `Saved version ${changed.version} of ${spellHidden(changed.name)}`,
      })
    },
  })
  const refusal = save.error ?? dryRun.error
  const mayBeStale = refusal instanceof ApiError && refusal.status === 409
  useEffect(() => {
    // Another user may have saved a version, of which no event has arrived yet.
    if (mayBeStale) void queryClient.invalidateQueries(exactToolQuery(tool.id))
  }, [mayBeStale, queryClient, tool.id])

  const canSave = change !== undefined && isChanged && !hasBroken && !isOutdated
  const submit = () => {
    if (canSave && !save.isPending) save.mutate()
  }
  return (
    <Stack gap="md">
      {isOutdated && isChanged && <VersionConflict state={state} latest={latest} />}
      <DefinitionEditor parts={parts} state={state} dryRun={dryRun} onBroken={onBroken} onSubmit={submit}>
        <ChangeReview
          state={state}
          hasBroken={hasBroken}
          canSave={canSave}
          isSaving={save.isPending}
          error={isOutdated ? null : save.error}
          onSave={submit}
        />
      </DefinitionEditor>
    </Stack>
  )
}
