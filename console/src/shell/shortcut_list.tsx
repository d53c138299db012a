import { Group, Kbd, Modal, Stack, Text, Title } from '@mantine/core'
import { PAGES } from './pages.ts'

const GROUPS: { title: string; rows: [string[], string][] }[] = [
  {
    title: 'Everywhere',
    rows: [
      [['Ctrl', 'K'], 'Search, or run a command (⌘ K on a Mac)'],
      [['?'], 'Show this list'],
      ...PAGES.map((page): [string[], string] => [['g', page.letter], `Go to ${page.label}`]),
    ],
  },
  {
    title: 'In lists',
    rows: [
      [['/'], 'Filter'],
      [['j'], 'Next row'],
      [['k'], 'Previous row'],
      [['Enter'], 'Open'],
      [['x'], 'Select the row, in the list of tools'],
      [['Esc'], 'Close'],
      [['r'], 'Replay the opened call'],
    ],
  },
  {
    title: 'On a tool',
    rows: [
      [['Ctrl', 'Enter'], 'Call, also while typing'],
      [['c'], 'Copy as'],
    ],
  },
]

interface ShortcutListProps {
  isOpen: boolean
  onClose: () => void
}

/** The list of keyboard shortcuts. */
export function ShortcutList({ isOpen, onClose }: ShortcutListProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="lg">
        {GROUPS.map(({ title, rows }) => (
          <Stack gap={6} key={title}>
            <Title order={3} size="h5">
              {title}
            </Title>
            {rows.map(([keys, what]) => (
              <Group key={what} justify="space-between" wrap="nowrap">
                <Text size="sm">{what}</Text>
                <Group gap={4} wrap="nowrap">
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </Group>
              </Group>
            ))}
          </Stack>
        ))}
        <Text size="xs" c="dimmed">
          No shortcut works while you type in a field, but those with Ctrl.
        </Text>
      </Stack>
    </Modal>
  )
}
