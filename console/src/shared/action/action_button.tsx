import { Button, type ButtonProps, Popover } from '@mantine/core'
import type { ReactNode } from 'react'
import { ErrorState } from '../states/error_state.tsx'
import type { PlainAction } from './use_action.ts'

interface ActionButtonProps extends ButtonProps {
  action: PlainAction
  /** What the error names, such as `The activation`. */
  what: string
  children: ReactNode
}

/** A button that runs a writing request; an error is shown below it until the next attempt. */
export function ActionButton({ action, what, children, ...button }: ActionButtonProps) {
  return (
    <Popover
      opened={action.error !== null}
      onDismiss={() => action.reset()}
      position="bottom-start"
      width={360}
      withArrow
    >
      <Popover.Target>
        <Button {...button} loading={action.isPending} onClick={() => action.mutate()}>
          {children}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        {action.error && <ErrorState error={action.error} what={what} retry={() => action.mutate()} />}
      </Popover.Dropdown>
    </Popover>
  )
}
