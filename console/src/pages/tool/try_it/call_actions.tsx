import { Button, Group, Kbd, Text, TextInput } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import type { Schemas } from '../../../shared/api/client.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { ElapsedTime } from './elapsed_time.tsx'
import classes from './try_it.module.css'
import type { CallState } from './use_call.ts'

interface CallActionsProps {
  tool: Schemas['ToolResponse']
  canCall: boolean
  state: CallState
  idempotencyKey: string
  onIdempotencyKey: (key: string) => void
  onCall: () => void
  onCancel: () => void
}

/** The button that makes the call, and while it runs the one that cancels it. */
export function CallActions(props: CallActionsProps) {
  const { tool, canCall, state, idempotencyKey, onIdempotencyKey, onCall, onCancel } = props
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
            <Button variant="default" onClick={onCancel} leftSection={<Icon name="stop" size={15} />}>
              Cancel
            </Button>
            <ElapsedTime since={state.startedAt} />
          </>
        ) : (
          <Text size="sm" c="dimmed" visibleFrom="sm">
            <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd>
          </Text>
        )}
        {!tool.read_only && (
          <TextInput
            ml="auto"
            size="xs"
            label="Idempotency key (optional)"
            placeholder="runs once for each key"
            value={idempotencyKey}
            maxLength={255}
            onChange={(event) => onIdempotencyKey(event.currentTarget.value)}
          />
        )}
      </Group>
      {tool.is_active === false && (
        <Text size="sm" mt="xs" c="dimmed">
          The tool is inactive: calls are refused until its owner or an admin activates it.
        </Text>
      )}
      {isRunning && tool.on_disconnect === 'detach' && (
        <Text size="sm" mt="xs" c="dimmed">
          This tool goes on when its caller leaves: after Cancel, its result is in the journal only.
        </Text>
      )}
    </div>
  )
}
