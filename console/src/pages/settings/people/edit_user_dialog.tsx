import { Alert, Button, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { FormDialog } from '../../../shared/action/form_dialog.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { RoleSelect } from './role_select.tsx'
import type { User } from './users_query.ts'

interface EditUserDialogProps {
  /** The user as they are now, which may change while the dialog is open. */
  user: User
  onClose: () => void
}

/** Renames a user or changes their role; a change of another admin meanwhile is shown, not overwritten. */
export function EditUserDialog({ user, onClose }: EditUserDialogProps) {
  const [base, setBase] = useState(user)
  const [name, setName] = useState(user.name)
  const [role, setRole] = useState(user.role)
  const hasChanged = base.updated_at !== user.updated_at
  const take = () => {
    setBase(user)
    setName(user.name)
    setRole(user.role)
  }
  const save = useAction({
    run: () =>
      unwrap(
        api.PATCH('/v1/users/{user_id}', {
          params: { path: { user_id: user.id } },
          body: {
            ...(name.trim() === base.name ? {} : { name: name.trim() }),
            ...(role === base.role ? {} : { role }),
            updated_at: base.updated_at,
          },
        }),
      ),
    changes: [['users'], ['me']],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Change ${spellHidden(user.name)}`}
      submit="Save"
      isOpen
      onClose={onClose}
      action={save}
      isReady={!hasChanged && name.trim() !== '' && (name.trim() !== base.name || role !== base.role)}
    >
      {hasChanged && (
        <Alert color="yellow" variant="light" title="Another admin changed this user meanwhile">
          <Text size="sm" mb="xs">
            The user is now <ForeignText isMono>{user.name}</ForeignText>, {user.role}. Your changes are not saved.
          </Text>
          <Button size="xs" variant="default" onClick={take}>
            Show these values
          </Button>{' '}
          <Button size="xs" variant="default" onClick={() => setBase(user)}>
            Keep mine
          </Button>
        </Alert>
      )}
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        autoComplete="off"
        data-autofocus
      />
      <RoleSelect value={role} onChange={setRole} />
    </FormDialog>
  )
}
