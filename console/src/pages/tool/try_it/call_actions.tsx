import { Button, Group, Kbd, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import type { Schemas } from '../../../shared/api/client.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { describeRateLimit } from '../../../shared/tool/rate_limit_text.ts'
import { CallOptions } from './call_options.tsx'
import type { CallState } from './call_state.ts'
import { ElapsedTime } from './elapsed_time.tsx'
import classes from './try_it.module.css'

interface CallActionsProps {
  tool: Schemas['ToolResponse']
  canCall: boolean
  state: CallState
  dialect: string
  onDialect: (dialect: string) => void
  idempotencyKey: string
  onIdempotencyKey: (key: string) => void
  onCall: () => void
  onCancel: () => void
}

/** The button that makes the call, and while it runs the one that cancels it. */
export function CallActions(props: CallActionsProps) {
  const { tool, canCall, state, dialect, onDialect, idempotencyKey, onIdempotencyKey, onCall, onCancel } = props
  // In the editor, Ctrl Enter is a key of the editor.
  useHotkeys([['mod+Enter', onCall]], ['TEXTAREA_NONE'])
  const isRunning = state.phase === 'running'
  return (
    <div className={classes.actions}>
      <Group gap="sm">
        <Button
          onClick={onCall}
          disabled={!canCall || isRunning}
          color={tool.destructive ? 'red.9' : undefined}
          leftSection={<Icon name="play" size={15} />}
        >
          {tool.destructive ? 'Call (destructive)' : 'Call'}
        </Button>
        {isRunning ? (
          <>
            <Button
              variant="default"
              onClick={onCancel}
              disabled={state.stream === undefined || state.isCancelling}
              leftSection={<Icon name="stop" size={15} />}
            >
              Cancel
            </Button>
            <ElapsedTime since={state.startedAt} />
          </>
        ) : (
          <Text size="sm" c="dimmed" visibleFrom="sm">
            <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd>
          </Text>
        )}
      </Group>
      <CallOptions
        canRepeat={tool.read_only === true}
        dialect={dialect}
        onDialect={onDialect}
        idempotencyKey={idempotencyKey}
        onIdempotencyKey={onIdempotencyKey}
      />
      {tool.rate_limit && (
        <Text size="sm" mt="xs" c="dimmed">
          Rate limit: {describeRateLimit(tool.rate_limit)}.
        </Text>
      )}
      {tool.is_active === false && (
        <Text size="sm" mt="xs" c="dimmed">
          The tool is inactive: calls are refused until its owner or an admin activates it.
        </Text>
      )}
      {isRunning && tool.on_disconnect === 'detach' && (
        <Text size="sm" mt="xs" c="dimmed">
          This tool goes on when you leave the page; Cancel ends it.
        </Text>
      )}
    </div>
  )
}
