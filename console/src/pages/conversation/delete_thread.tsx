import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { ConfirmDialog } from '../../shared/action/confirm_dialog.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import { spellHidden } from '../../shared/text/visible_text.ts'
import type { Thread } from '../conversations/conversations_query.ts'

/** Deletes a conversation, after it has named what is lost. */
export function DeleteThread({ thread }: { thread: Thread }) {
  const [isOpen, dialog] = useDisclosure()
  const navigate = useNavigate()
  const name = thread.title === null ? 'without a title' : `“${spellHidden(thread.title)}”`
  const count = thread.messages === 1 ? 'Its message is' : `Its ${thread.messages.toLocaleString('en')} messages are`
  const remove = useAction({
    run: () => unwrap(api.DELETE('/v1/threads/{thread_id}', { params: { path: { thread_id: thread.id } } })),
    changes: [['threads']],
    onDone: () => {
      notifications.show({ message: `Deleted the conversation ${name}` })
      void navigate({ to: '/conversations' })
    },
  })
  return (
    <>
      <Button size="xs" variant="default" onClick={dialog.open}>
        Delete
      </Button>
      <ConfirmDialog
        title={`Delete the conversation ${name}?`}
        effects={[
          `${count} deleted, with arguments and results of calls.`,
          'The rows of its calls stay in the journal.',
        ]}
        submit="Delete the conversation"
        isOpen={isOpen}
        onClose={dialog.close}
        action={remove}
      />
    </>
  )
}
