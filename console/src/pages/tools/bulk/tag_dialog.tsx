import { Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { FormDialog } from '../../../shared/action/form_dialog.tsx'
import type { PlainAction } from '../../../shared/action/use_action.ts'
import { countTools } from './use_bulk.ts'

interface TagDialogProps {
  count: number
  onClose: () => void
  onTag: (added: string[], removed: string[]) => void
}

/** Asks which tags to add to the selected tools, and which to remove. */
export default function TagDialog({ count, onClose, onTag }: TagDialogProps) {
  const [added, setAdded] = useState('')
  const [removed, setRemoved] = useState('')
  const lists: [string[], string[]] = [splitTags(added), splitTags(removed)]
  const action: PlainAction = { mutate: () => onTag(...lists), reset: () => undefined, isPending: false, error: null }
  const isReady = lists.some((tags) => tags.length > 0)
  return (
    <FormDialog
      title={`Tag ${countTools(count)}`}
      isOpen
      onClose={onClose}
      submit="Tag"
      isReady={isReady}
      action={action}
    >
      <TextInput
        label="Add"
        data-autofocus
        placeholder="billing, internal"
        value={added}
        onChange={(event) => setAdded(event.currentTarget.value)}
      />
      <TextInput label="Remove" value={removed} onChange={(event) => setRemoved(event.currentTarget.value)} />
      <Text size="xs" c="dimmed">
        Separate tags with commas.
      </Text>
    </FormDialog>
  )
}

function splitTags(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '')
}
