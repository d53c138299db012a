import { Button, Group, Modal, Stack } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect } from 'react'
import { ErrorState } from '../states/error_state.tsx'
import type { PlainAction } from './use_action.ts'

interface FormDialogProps {
  title: string
  isOpen: boolean
  onClose: () => void
  /** Sends what was typed; its `onDone` closes the dialog. */
  action: PlainAction
  /** The words of the button, such as `Create key`. */
  submit: string
  isReady?: boolean
  isDanger?: boolean
  children: ReactNode
}

/** A dialog with a form; an error is shown above its buttons, and what was typed stays. */
export function FormDialog(props: FormDialogProps) {
  const { title, isOpen, onClose, action, submit, isReady = true, isDanger = false, children } = props
  const { reset } = action
  useEffect(() => {
    if (isOpen) reset()
  }, [isOpen, reset])
  const send = (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    if (isReady && !action.isPending) action.mutate()
  }
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={send}>
        <Stack gap="md">
          {children}
          {action.error && <ErrorState error={action.error} what={title} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={action.isPending} color={isDanger ? 'red.9' : undefined}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
