import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { DataList } from '../../shared/list/data_list.tsx'
import { useMe } from '../../shared/session/use_me.ts'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import classes from './agents_page.module.css'
import { type Agent, ownersQuery } from './agents_query.ts'

const COLUMNS = ['Name', 'Tools', 'Owner', 'Changed']

interface AgentListProps {
  agents: Agent[]
  hasMore: boolean
  loadMore: () => void
}

/** The rows of the list of agents. */
export function AgentList({ agents, hasMore, loadMore }: AgentListProps) {
  const navigate = useNavigate()
  const { user } = useMe()
  const owners = useQuery({ ...ownersQuery, enabled: user.role === 'admin' }).data
  const nameOwner = (id: string) => (id === user.id ? 'you' : spellHidden(owners?.get(id) ?? id))
  return (
    <DataList
      label="Agents"
      columns={COLUMNS}
      rows={agents}
      className={classes.grid}
      rowHeight={55}
      keyOf={(agent) => agent.id}
      onOpen={(agent) => void navigate({ to: '/agents/$id', params: { id: agent.id } })}
      hasMore={hasMore}
      loadMore={loadMore}
      renderCells={(agent) => [
        <div key="name" className={classes.name}>
          <Link to="/agents/$id" params={{ id: agent.id }} className={classes.link}>
            <ForeignText limit={120}>{agent.name}</ForeignText>
          </Link>
          <span className={classes.muted}>{spellHidden((agent.description ?? '').slice(0, 300))}</span>
        </div>,
        <span key="tools">{agent.tools.length === 1 ? '1 tool' : `${agent.tools.length} tools`}</span>,
        <span key="owner" className={classes.muted}>
          {nameOwner(agent.owner_id)}
        </span>,
        <span key="changed" className={classes.muted}>
          <TimeText isAge>{agent.updated_at}</TimeText>
        </span>,
      ]}
    />
  )
}
