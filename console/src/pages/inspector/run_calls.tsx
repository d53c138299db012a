import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useAction } from '../../shared/action/use_action.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { ResultView } from '../../shared/result/result_view.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { type Inspection, runCalls, type Submitted } from './inspector_query.ts'

interface RunCallsProps {
  inspection: Inspection
  submitted: Submitted
  as: string | undefined
  isOld: boolean
}

/** Runs the calls of a payload, and shows what the model would get. */
export function RunCalls({ inspection, submitted, as, isOld }: RunCallsProps) {
  const open = inspection.calls.filter((call) => call.outcome === 'open' || call.problem !== undefined)
  const refused = open.filter((call) => call.problem !== undefined).length
  const running = useRef<AbortController>(null)
  const run = useAction({
    run: () => {
      running.current = new AbortController()
      return runCalls(submitted, as, running.current.signal)
    },
  })
  // The tool of a call decides whether it goes on without a reader (on_disconnect).
  useEffect(() => () => running.current?.abort(), [])
  if (open.length === 0) return null
  const count = open.length === 1 ? '1 call' : `${open.length} calls`
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Button
          size="xs"
          leftSection={<Icon name="play" size={14} />}
          disabled={isOld}
          loading={run.isPending}
          onClick={() => run.mutate()}
        >
          Run {count}
        </Button>
        {run.isPending && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="stop" size={14} />}
            onClick={() => running.current?.abort()}
          >
            Cancel
          </Button>
        )}
        {refused > 0 && (
          <Text size="sm">
            {refused === 1 ? '1 would be refused' : `${refused} would be refused`}; the model gets the reason.
          </Text>
        )}
      </Group>
      {run.error && !isAborted(run.error) && <ErrorState error={run.error} what="The calls" />}
      {run.error && isAborted(run.error) && <Text size="sm">Cancelled. Executions has the calls.</Text>}
      {run.data && (
        <Stack gap="xs" component="section" aria-label="Results">
          <Group gap="sm" align="baseline">
            <Title order={2}>Results as {as ?? (run.data.dialect || inspection.dialect)}</Title>
            {run.data.requestId && (
              <Anchor
                size="sm"
                renderRoot={(props) => <Link to="/executions" search={{ request_id: run.data.requestId }} {...props} />}
              >
                Their rows in Executions
              </Anchor>
            )}
          </Group>
          <ResultView value={run.data.value} raw={run.data.raw} first="json" />
        </Stack>
      )}
    </Stack>
  )
}

function isAborted(error: Error): boolean {
  return error.name === 'AbortError'
}
