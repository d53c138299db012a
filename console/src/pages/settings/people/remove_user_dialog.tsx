import { ConfirmDialog } from '../../../shared/action/confirm_dialog.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import type { User } from './users_query.ts'

interface RemoveUserDialogProps {
  user: User
  onClose: () => void
  onRemoved: () => void
}

/** Asks before a user is removed. */
export function RemoveUserDialog({ user, onClose, onRemoved }: RemoveUserDialogProps) {
  const remove = useAction({
    run: () => unwrap(api.DELETE('/v1/users/{user_id}', { params: { path: { user_id: user.id } } })),
    changes: [['users']],
    onDone: onRemoved,
  })
  const name = spellHidden(user.name)
  return (
    <ConfirmDialog
      title={`Remove the user “${name}”?`}
      effects={[
        `All keys and sessions of ${name} are refused at once.`,
        `The tools of ${name} stay: their public tools can still be called, and admins can change or delete them.`,
        'Their calls stay in the journal.',
        'A new user of the same name is another user, and gets none of this.',
      ]}
      submit="Remove user"
      isOpen
      onClose={onClose}
      action={remove}
    />
  )
}
