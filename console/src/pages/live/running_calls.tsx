import { Button, Progress, Text, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../shared/api/api_error.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import { formatDuration } from '../../shared/format/numbers.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import classes from './live_page.module.css'
import type { RunningCall } from './live_state.ts'

const MOST = 50
// The call may end by itself before the request arrives.
const HAS_ENDED = [404, 409]

interface RunningCallsProps {
  calls: RunningCall[]
  now: number
  isFiltered: boolean
}

/** The calls that run now, oldest first, each with a button that cancels it. */
export function RunningCalls({ calls, now, isFiltered }: RunningCallsProps) {
  return (
    <section aria-label="Running calls">
      <Title order={2} mb="xs">
        Running
      </Title>
      {calls.length === 0 && (
        <Text size="sm" c="dimmed">
          {isFiltered ? 'No running call matches the filter.' : 'No call runs now.'}
        </Text>
      )}
      <ul className={classes.running}>
        {calls.slice(0, MOST).map((call) => (
          <RunningRow key={call.run_id} call={call} now={now} />
        ))}
      </ul>
      {calls.length > MOST && (
        <Text size="sm" mt="xs">
          {calls.length - MOST} more
        </Text>
      )}
    </section>
  )
}

function RunningRow({ call, now }: { call: RunningCall; now: number }) {
  const [isCancelling, setCancelling] = useState(false)
  const { progress, total } = call
  const isMeasured = typeof progress === 'number' && typeof total === 'number' && total > 0
  const cancel = async () => {
    setCancelling(true)
    try {
      await unwrap(api.DELETE('/v1/calls/{run}', { params: { path: { run: call.run_id } } }))
    } catch (error) {
      if (error instanceof ApiError && HAS_ENDED.includes(error.status)) return
      setCancelling(false)
      notifications.show({ color: 'red', title: 'Not cancelled', message: (error as Error).message })
    }
  }
  return (
    <li>
      <Link to="/tools/$ref" params={{ ref: call.tool_name }} className={classes.tool}>
        {spellHidden(call.tool_name)}
      </Link>
      <span className={classes.by}>
        {spellHidden(call.caller)}, {call.surface}
      </span>
      <span className={classes.progress}>
        {isMeasured && (
          <Progress
            value={(100 * progress) / total}
            size="sm"
            aria-label={`Progress of ${spellHidden(call.tool_name)}`}
          />
        )}
        {!isMeasured && typeof progress === 'number' && `at ${progress}`}
      </span>
      <span className={classes.elapsed}>{formatDuration(Math.max(0, now - Date.parse(call.started_at)))}</span>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<Icon name="stop" size={12} />}
        disabled={isCancelling}
        aria-label={`Cancel ${spellHidden(call.tool_name)}`}
        onClick={() => void cancel()}
      >
        {isCancelling ? 'Cancelling' : 'Cancel'}
      </Button>
    </li>
  )
}
