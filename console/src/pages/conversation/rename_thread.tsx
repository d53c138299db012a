import { Button, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { FormDialog } from '../../shared/action/form_dialog.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import type { Thread } from '../conversations/conversations_query.ts'

/** Changes the title of a conversation. */
export function RenameThread({ thread }: { thread: Thread }) {
  const [isOpen, dialog] = useDisclosure()
  const [title, setTitle] = useState('')
  const rename = useAction({
    run: () => {
      const params = { path: { thread_id: thread.id } }
      return unwrap(api.PATCH('/v1/threads/{thread_id}', { params, body: { title: title.trim() || null } }))
    },
    changes: [['thread', thread.id], ['threads']],
    onDone: dialog.close,
  })
  const open = () => {
    setTitle(thread.title ?? '')
    dialog.open()
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Rename
      </Button>
      <FormDialog title="Rename the conversation" isOpen={isOpen} onClose={dialog.close} action={rename} submit="Save">
        <TextInput
          label="Title"
          description="Without a title, it gets the beginning of the next message of its user"
          data-autofocus
          value={title}
          maxLength={200}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
      </FormDialog>
    </>
  )
}
