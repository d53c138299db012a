import { Link, useNavigate } from '@tanstack/react-router'
import { DataList } from '../../shared/list/data_list.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import classes from './conversations_page.module.css'
import type { Thread } from './conversations_query.ts'

const COLUMNS = ['Title', 'Messages', 'Through', 'Changed']

interface ConversationListProps {
  threads: Thread[]
  hasMore: boolean
  loadMore: () => void
}

/** The rows of the list of conversations. */
export function ConversationList({ threads, hasMore, loadMore }: ConversationListProps) {
  const navigate = useNavigate()
  return (
    <DataList
      label="Conversations"
      columns={COLUMNS}
      rows={threads}
      className={classes.grid}
      rowHeight={45}
      keyOf={(thread) => thread.id}
      onOpen={(thread) => void navigate({ to: '/conversations/$id', params: { id: thread.id } })}
      hasMore={hasMore}
      loadMore={loadMore}
      renderCells={(thread) => [
        <Link key="title" to="/conversations/$id" params={{ id: thread.id }} className={classes.link}>
          {thread.title ? <ForeignText limit={200}>{thread.title}</ForeignText> : 'Without a title'}
        </Link>,
        <span key="messages" className={classes.number}>
          {thread.messages.toLocaleString('en')}
          <span className={classes.unit}> messages</span>
        </span>,
        <span key="agent">{thread.agent_id && <StatusBadge tone="idle">Agent</StatusBadge>}</span>,
        <span key="changed" className={classes.muted}>
          <TimeText isAge>{thread.updated_at}</TimeText>
        </span>,
      ]}
    />
  )
}
