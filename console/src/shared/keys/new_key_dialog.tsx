import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { CopyText } from '../copy/copy_button.tsx'

interface NewKeyDialogProps {
  value: string | undefined
  onClose: () => void
}

/** Shows a new key once. */
export function NewKeyDialog({ value, onClose }: NewKeyDialogProps) {
  return (
    <Modal
      opened={value !== undefined}
      onClose={onClose}
      title="Copy the new key now"
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      // Otherwise the key stays in the page while the dialog fades.
      transitionProps={{ duration: 0 }}
    >
      <Stack gap="md">
        <Text size="sm">
          This is the only time that it is shown: the board stores only a hash of it. Keep it where passwords are kept.
        </Text>
        <TextInput
          label="New key"
          value={value ?? ''}
          readOnly
          onFocus={(event) => event.currentTarget.select()}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <Group justify="flex-end" gap="xs">
          <CopyText text={value ?? ''} label="Copy the key" />
          <Button size="xs" onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
