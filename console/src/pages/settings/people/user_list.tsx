import { Link } from '@tanstack/react-router'
import { DataList } from '../../../shared/list/data_list.tsx'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import classes from './people_section.module.css'
import type { User } from './users_query.ts'

const COLUMNS = ['Name', 'Role', 'Added']

interface UserListProps {
  users: User[]
  openId: string | undefined
  onOpen: (id: string) => void
  hasMore: boolean
  loadMore: () => void
}

/** The rows of the users. */
export function UserList({ users, openId, onOpen, hasMore, loadMore }: UserListProps) {
  return (
    <div>
      <DataList
        label="Users"
        columns={COLUMNS}
        rows={users}
        className={classes.grid}
        rowHeight={45}
        keyOf={(user) => user.id}
        onOpen={(user) => onOpen(user.id)}
        openKey={openId}
        hasMore={hasMore}
        loadMore={loadMore}
        renderCells={(user) => [
          <Link
            key="name"
            to="."
            search={(all) => ({ ...all, open: user.id })}
            resetScroll={false}
            className={classes.link}
          >
            <ForeignText limit={120}>{user.name}</ForeignText>
          </Link>,
          <StatusBadge key="role" tone={user.role === 'admin' ? 'good' : 'idle'}>
            {user.role === 'admin' ? 'Admin' : 'Member'}
          </StatusBadge>,
          <span key="added" className={classes.muted}>
            <TimeText isAge>{user.created_at}</TimeText>
          </span>,
        ]}
      />
    </div>
  )
}
