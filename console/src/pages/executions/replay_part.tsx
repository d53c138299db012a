import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { ApiError } from '../../shared/api/api_error.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { formatJson } from '../../shared/json/exact_json.ts'
import { useArguments } from '../../shared/json/use_arguments.ts'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import type { Execution } from './executions_query.ts'
import { replayExecution } from './replay_query.ts'
import { ReplayResult } from './replay_result.tsx'

const JsonEditor = lazy(() => import('../../shared/editor/json_editor.tsx'))

/** Runs a recorded call again, with its arguments or with others, and compares the results. */
export default function ReplayPart({ row }: { row: Execution }) {
  const recorded = row.arguments ?? undefined
  const args = useArguments(recorded ?? {})
  const queryClient = useQueryClient()
  const replay = useMutation({
    mutationFn: (isConfirmed: boolean) => {
      const isChanged = recorded === undefined || args.text !== formatJson(recorded)
      return replayExecution(row.id, isChanged ? args.text.trim() || '{}' : undefined, isConfirmed)
    },
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: ['activity'] }),
  })
  const run = (isConfirmed: boolean) => {
    if (args.value !== undefined && !replay.isPending) replay.mutate(isConfirmed)
  }
  const { error } = replay
  const mayRepeatEffects = error instanceof ApiError && error.status === 409
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {recorded === undefined
          ? 'The journal has not kept the arguments of this call. Write those to run it with.'
          : 'Runs the tool again as a call of yours. Change the arguments to see what they change in the result.'}
      </Text>
      <Suspense fallback={<ListOutline rows={2} />}>
        <JsonEditor label="Arguments" value={args.text} onChange={args.setText} onSubmit={() => run(false)} />
      </Suspense>
      {args.fault && (
        <Text size="sm" c="var(--board-bad)" role="status">
          {args.fault}
        </Text>
      )}
      <Group gap="xs">
        <Button
          size="xs"
          disabled={args.value === undefined}
          loading={replay.isPending}
          leftSection={<Icon name="play" size={14} />}
          onClick={() => run(false)}
        >
          Run again
        </Button>
      </Group>
      <div aria-live="polite">
        {mayRepeatEffects && (
          <Stack gap="xs" align="flex-start">
            <Text size="sm">
              <ForeignText limit={600}>{error.message}</ForeignText>
            </Text>
            <Button size="xs" color="red.9" onClick={() => run(true)}>
              Run again and repeat its effects
            </Button>
          </Stack>
        )}
        {error && !mayRepeatEffects && <ErrorState error={error} what="The replay" />}
        {replay.data && <ReplayResult replay={replay.data} />}
      </div>
    </Stack>
  )
}
