import { Button } from '@mantine/core'
import type { IconButtonProps } from '@rjsf/utils'

/** Adds an item to a list in a form. */
export function AddButton({ id, disabled, onClick }: IconButtonProps) {
  return (
    <Button id={id} size="xs" variant="default" disabled={disabled} onClick={onClick}>
      Add item
    </Button>
  )
}
