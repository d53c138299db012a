import { Button } from '@mantine/core'
import { Icon } from '../icons/icon.tsx'

interface NewRowsButtonProps {
  /** How many rows are new, such as `12` or `100+`; empty if none is. */
  count: string
  what: string
  onShow: () => void
}

/** Loads a list again. New rows wait behind it, so that no row moves while a person reads. */
export function NewRowsButton({ count, what, onShow }: NewRowsButtonProps) {
  return (
    <Button
      size="xs"
      variant={count ? 'light' : 'default'}
      leftSection={<Icon name="refresh" size={14} />}
      onClick={onShow}
    >
      {count ? `${count} ${what}` : 'Reload'}
    </Button>
  )
}
