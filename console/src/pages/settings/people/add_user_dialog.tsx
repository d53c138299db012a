import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { FormDialog } from '../../../shared/action/form_dialog.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { RoleSelect } from './role_select.tsx'
import type { User } from './users_query.ts'

interface AddUserDialogProps {
  isOpen: boolean
  onClose: () => void
  onAdded: (id: string) => void
}

/** Asks for the name and role of a new user. */
export function AddUserDialog({ isOpen, onClose, onAdded }: AddUserDialogProps) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<User['role']>('member')
  const add = useAction({
    run: () => unwrap(api.POST('/v1/users', { body: { name: name.trim(), role } })),
    changes: [['users']],
    onDone: (user) => {
      setName('')
      setRole('member')
      onAdded(user.id)
    },
  })
  return (
    <FormDialog
      title="Add a user"
      submit="Add user"
      isOpen={isOpen}
      onClose={onClose}
      action={add}
      isReady={name.trim() !== ''}
    >
      <TextInput
        label="Name"
        description="Of a person, or of a program that has a key of its own. Create a key after this"
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
