import { List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormDialog } from './form_dialog.tsx'
import type { PlainAction } from './use_action.ts'

interface ConfirmDialogProps {
  /** A question that names the thing, such as `Remove the user ann?` */
  title: string
  /** What will happen, a sentence each. */
  effects: string[]
  /** The words of the button: the verb of the title and its object. */
  submit: string
  isOpen: boolean
  onClose: () => void
  action: PlainAction
  /** Choices below the effects, such as one that forces a refused action. */
  children?: ReactNode
}

/** Asks before an action that cannot be undone, and names what it will do. Anything else is done at once, with `offerUndo`. */
export function ConfirmDialog({ effects, children, ...dialog }: ConfirmDialogProps) {
  return (
    <FormDialog {...dialog} isDanger>
      <List size="sm" spacing={4}>
        {effects.map((effect) => (
          <List.Item key={effect}>{effect}</List.Item>
        ))}
      </List>
      <Text size="sm" fw={600}>
        This cannot be undone.
      </Text>
      {children}
    </FormDialog>
  )
}
