import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Schemas } from '../../shared/api/client.ts'
import { Sparkline } from '../../shared/chart/sparkline.tsx'
import { formatCount, formatDuration } from '../../shared/format/numbers.ts'
import { DataList, type RowSelection } from '../../shared/list/data_list.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import { RestoreButton } from './restore_button.tsx'
import { ToolState } from './tool_state.tsx'
import classes from './tools_page.module.css'
import { type Activity, activityQuery } from './tools_query.ts'
import type { ToolsSearch } from './tools_search.ts'

type Tool = Schemas['ToolSummary']

const COLUMNS = ['Name', 'Kind', 'Tags', 'State', 'Version', 'Calls and p95, 24 h', 'Changed']

interface ToolListProps {
  tools: Tool[]
  search: ToolsSearch
  hasMore: boolean
  loadMore: () => void
  selection: RowSelection<Tool>
}

/** The rows of the list of tools. */
export function ToolList({ tools, search, hasMore, loadMore, selection }: ToolListProps) {
  const navigate = useNavigate()
  const ids = search.state === 'deleted' ? [] : tools.slice(0, 200).map((tool) => tool.id)
  const activity = useQuery(activityQuery(ids)).data
  return (
    <DataList
      label="Tools"
      columns={COLUMNS}
      rows={tools}
      className={classes.grid}
      rowHeight={55}
      keyOf={(tool) => tool.id}
      onOpen={(tool) => {
        if (!tool.is_deleted) void navigate({ to: '/tools/$ref', params: { ref: toolRef(tool) } })
      }}
      hasMore={hasMore}
      loadMore={loadMore}
      selection={selection}
      renderCells={(tool) => [
        <div key="name" className={classes.name}>
          {tool.is_deleted ? (
            <span className={classes.link}>
              <ForeignText limit={120}>{tool.name}</ForeignText>
            </span>
          ) : (
            <Link to="/tools/$ref" params={{ ref: toolRef(tool) }} className={classes.link}>
              <ForeignText limit={120}>{tool.name}</ForeignText>
            </Link>
          )}
          <span className={classes.description}>{spellHidden(tool.description ?? '')}</span>
        </div>,
        <StatusBadge key="kind" tone="idle">
          {tool.tool_type}
        </StatusBadge>,
        <div key="tags" className={classes.muted}>
          {spellHidden((tool.tags ?? []).join(', '))}
        </div>,
        tool.is_deleted ? <RestoreButton key="state" tool={tool} /> : <ToolState key="state" tool={tool} />,
        <span key="version" className={classes.muted}>
          {tool.version}
        </span>,
        <ToolActivity key="activity" activity={activity?.get(tool.name)} />,
        <span key="changed" className={classes.muted}>
          <TimeText isAge>{tool.updated_at}</TimeText>
        </span>,
      ]}
    />
  )
}

/** Return what the address of a tool has: its name, or its id where another page has the name. */
function toolRef(tool: Tool): string {
  return tool.name === 'new' ? tool.id : tool.name
}

function ToolActivity({ activity }: { activity: Activity | undefined }) {
  if (activity === undefined || activity.total === 0) return <span className={classes.muted}>No calls</span>
  const title = `${activity.total} calls in 24 hours, highest p95 of an hour ${formatDuration(activity.p95)}`
  return (
    <span className={classes.activity} title={title}>
      <Sparkline values={activity.calls} title={title} width={56} />
      <span>
        {formatCount(activity.total)}
        <span className={classes.muted}> · {formatDuration(activity.p95)}</span>
      </span>
    </span>
  )
}
