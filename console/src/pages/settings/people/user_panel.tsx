import { Button, CloseButton, Group, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CopyText } from '../../../shared/copy/copy_button.tsx'
import { useMe } from '../../../shared/session/use_me.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { KeyList } from '../keys/key_list.tsx'
import panelClasses from '../panel.module.css'
import { EditUserDialog } from './edit_user_dialog.tsx'
import { RemoveUserDialog } from './remove_user_dialog.tsx'
import { userQuery } from './users_query.ts'

interface UserPanelProps {
  id: string
  onClose: () => void
}

/** One user: name and role, what can be done, and their keys. */
export function UserPanel({ id, onClose }: UserPanelProps) {
  const found = useQuery(userQuery(id))
  const { user: me } = useMe()
  const [dialog, setDialog] = useState<'edit' | 'remove'>()
  const user = found.data
  const close = () => setDialog(undefined)
  return (
    <aside aria-label="User">
      <div className={panelClasses.panel}>
        <Group justify="space-between" wrap="nowrap" align="start" mb="sm">
          <Title order={2}>{user ? <ForeignText isMono>{user.name}</ForeignText> : 'User'}</Title>
          <CloseButton onClick={onClose} aria-label="Close" />
        </Group>
        {found.error && <ErrorState error={found.error} what={`The user ${id}`} retry={() => void found.refetch()} />}
        {found.isPending && !found.error && <ListOutline rows={3} />}
        {user && (
          <>
            <dl className={panelClasses.list}>
              <dt>Role</dt>
              <dd>{user.role === 'admin' ? 'Admin' : 'Member'}</dd>
              <dt>Added</dt>
              <dd>
                <TimeText>{user.created_at}</TimeText>
              </dd>
              <dt>Changed</dt>
              <dd>
                <TimeText>{user.updated_at}</TimeText>
              </dd>
              <dt>Id</dt>
              <dd>
                <ForeignText isMono>{user.id}</ForeignText> <CopyText text={user.id} label="Copy id" isIcon />
              </dd>
            </dl>
            <Group gap="xs" mt="md">
              <Button size="xs" variant="default" onClick={() => setDialog('edit')}>
                Rename or change the role
              </Button>
              <Button
                size="xs"
                variant="default"
                renderRoot={(props) => <Link to="/executions" search={{ caller: user.id }} {...props} />}
              >
                Calls
              </Button>
              {user.id !== me.id && (
                <Button size="xs" variant="default" onClick={() => setDialog('remove')}>
                  Remove
                </Button>
              )}
            </Group>
          </>
        )}
      </div>
      {user && <KeyList userId={id} userName={user.name} />}
      {user && dialog === 'edit' && <EditUserDialog user={user} onClose={close} />}
      {user && dialog === 'remove' && (
        <RemoveUserDialog
          user={user}
          onClose={close}
          onRemoved={() => {
            close()
            onClose()
          }}
        />
      )}
    </aside>
  )
}
