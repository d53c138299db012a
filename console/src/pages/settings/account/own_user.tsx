import { Button } from '@mantine/core'
import { CopyText } from '../../../shared/copy/copy_button.tsx'
import { Icon } from '../../../shared/icons/icon.tsx'
import { useLogOut } from '../../../shared/session/use_log_out.ts'
import { useMe } from '../../../shared/session/use_me.ts'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'

/** Who is logged in, and the way out. */
export function OwnUser() {
  const { user } = useMe()
  const leave = useLogOut()
  return (
    <Panel
      title="Your user"
      actions={
        <Button size="xs" variant="default" leftSection={<Icon name="logout" size={14} />} onClick={() => void leave()}>
          Log out
        </Button>
      }
    >
      <dl className={classes.list}>
        <dt>Name</dt>
        <dd>
          <ForeignText isMono>{user.name}</ForeignText>
        </dd>
        <dt>Role</dt>
        <dd>{user.role === 'admin' ? 'Admin: sees and changes all of the board' : 'Member'}</dd>
        <dt>Id</dt>
        <dd>
          <ForeignText isMono>{user.id}</ForeignText> <CopyText text={user.id} label="Copy id" isIcon />
        </dd>
      </dl>
    </Panel>
  )
}
