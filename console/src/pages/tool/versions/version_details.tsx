import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { offerUndo } from '../../../shared/action/offer_undo.tsx'
import type { Schemas } from '../../../shared/api/client.ts'
import { changeTool } from '../../../shared/definition/definition_requests.ts'
import type { Comparison } from '../../../shared/difference/compare_values.ts'
import { DifferenceList } from '../../../shared/difference/difference_list.tsx'
import { formatJson } from '../../../shared/json/exact_json.ts'
import { LongText } from '../../../shared/result/long_text.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { useSavedTool } from '../use_saved_tool.ts'
import { compareToBefore, restoringFields, type Version } from './version.ts'
import classes from './versions_tab.module.css'

interface VersionDetailsProps {
  tool: Schemas['ToolResponse']
  version: Version
  changed: Comparison | undefined
  current: Version
}

type Mode = 'before' | 'current' | 'whole'

/** What a version changed, what restoring it would change, its definition, and the button that restores it. */
export function VersionDetails({ tool, version, changed, current }: VersionDetailsProps) {
  const isCurrent = version.version === current.version
  const [mode, setMode] = useState<Mode>(changed ? 'before' : isCurrent ? 'whole' : 'current')
  const queryClient = useQueryClient()
  const showSaved = useSavedTool()
  const restored = useMemo(() => compareToBefore(version, current), [version, current])
  const restore = useMutation({
    mutationFn: () => changeTool(tool.id, { ...restoringFields(version), version: current.version }, false),
    onSuccess: async (saved) => {
      await showSaved(saved)
      offerUndo({
        message: `Restored version ${version.version} of ${spellHidden(saved.name)}, as version ${saved.version}`,
        undo: async () => {
          await changeTool(saved.id, { ...restoringFields(current), version: saved.version }, false)
          await queryClient.invalidateQueries({ queryKey: ['tool', saved.id] })
        },
        undone: `The definition of version ${current.version} is current again`,
      })
    },
    // Another version may have been saved meanwhile.
    onError: () => queryClient.invalidateQueries({ queryKey: ['tool', tool.id] }),
  })
  const modes = [
    ...(changed ? [{ value: 'before', label: 'What it changed' }] : []),
    ...(isCurrent ? [] : [{ value: 'current', label: 'What restoring it would change' }]),
    { value: 'whole', label: 'Definition' },
  ]
  const shown = mode === 'before' ? changed : restored
  return (
    <Stack gap="sm" className={classes.details}>
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="Show"
          data={modes}
          value={mode}
          onChange={(next) => setMode(next as Mode)}
        />
        {restored.differences.length > 0 && (
          <Button size="xs" variant="default" loading={restore.isPending} onClick={() => restore.mutate()}>
            Restore version {version.version}
          </Button>
        )}
      </Group>
      {restore.error && <ErrorState error={restore.error} what={`Restoring version ${version.version}`} />}
      {mode === 'whole' ? (
        <LongText
          text={formatJson(version.definition)}
          label={`Definition of version ${version.version}`}
          fileName={`version-${version.version}.json`}
        />
      ) : (
        shown && (
          <>
            {shown.differences.length === 0 && <Text size="sm">The definitions are the same.</Text>}
            <DifferenceList {...shown} before={mode === 'before' ? 'Before' : 'Now'} after="After" />
          </>
        )
      )}
      {mode === 'current' && restored.differences.length > 0 && (
        <Text size="xs" c="dimmed">
          Restoring saves the old definition as a new version. Secrets are not in versions, and stay as they are now.
        </Text>
      )}
    </Stack>
  )
}
