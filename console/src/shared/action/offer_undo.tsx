import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { ErrorState } from '../states/error_state.tsx'

interface UndoOffer {
  /** What happened, such as `Deleted get_weather`. */
  message: string
  /** The words of the button. */
  label?: string
  undo: () => Promise<unknown>
  /** Shown after the undo. */
  undone: string
}

// Longer than other notices: it is instead of a confirmation.
const SHOWN_MS = 15_000

/** Show what was done, with a button that reverses it. */
export function offerUndo({ message, label = 'Undo', undo, undone }: UndoOffer): void {
  const id = notifications.show({
    autoClose: SHOWN_MS,
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Close' },
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        <Button size="xs" variant="default" onClick={() => void run()} style={{ flex: 'none' }}>
          {label}
        </Button>
      </Group>
    ),
  })
  const run = async () => {
    notifications.update({ id, loading: true, autoClose: false, message })
    try {
      await undo()
      notifications.update({ id, loading: false, autoClose: 4000, message: undone })
    } catch (error) {
      const failed = <ErrorState error={error} what="The undo" retry={() => void run()} />
      notifications.update({ id, loading: false, autoClose: false, message: failed })
    }
  }
}
