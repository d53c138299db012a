import { Button, Menu } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { boardAddress } from '../../../shared/api/base_path.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { useShortcuts } from '../../../shared/keyboard/use_shortcuts.ts'
import { SNIPPETS } from '../../../shared/snippets/call_snippets.ts'

interface CopyAsMenuProps {
  tool: string
  value: unknown
}

/** Copies the call as a command, a program or a model's message; the key is read from PEGBOARD_KEY. */
export function CopyAsMenu({ tool, value }: CopyAsMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const clipboard = useClipboard()
  useShortcuts({ c: () => setOpen(true) })
  const copy = (name: string, write: (typeof SNIPPETS)[number]['write']) => {
    clipboard.copy(write({ address: boardAddress(), tool, arguments: value ?? {} }))
    notifications.show({ title: `Copied: ${name}`, message: 'The key is read from the variable PEGBOARD_KEY.' })
  }
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" disabled={value === undefined} leftSection={<Icon name="copy" size={14} />}>
          Copy as
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {SNIPPETS.map(({ name, write }) => (
          <Menu.Item key={name} onClick={() => copy(name, write)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
