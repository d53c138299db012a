import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ActionButton } from '../../../shared/action/action_button.tsx'
import { offerUndo } from '../../../shared/action/offer_undo.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { DataList } from '../../../shared/list/data_list.tsx'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import type { Agent } from '../../agents/agents_query.ts'
import { ToolState } from '../../tools/tool_state.tsx'
import { changeTools, type Lint, type ToolRow } from '../agent_query.ts'
import { costByTool, type ToolCost } from './tool_costs.ts'
import classes from './tools_tab.module.css'

const COLUMNS = ['Name', 'State', 'Tokens', 'Faults', 'Remove']

interface AgentToolsProps {
  agent: Agent
  tools: ToolRow[]
  lint: Lint | undefined
  hasMore: boolean
  loadMore: () => void
}

/** The tools of an agent, each with its tokens and a button that takes it off. */
export function AgentTools({ agent, tools, lint, hasMore, loadMore }: AgentToolsProps) {
  const navigate = useNavigate()
  const costs = useMemo(() => (lint ? costByTool(lint) : undefined), [lint])
  return (
    <DataList
      label="Tools of the agent"
      columns={COLUMNS}
      rows={tools}
      className={classes.tools}
      rowHeight={55}
      keyOf={(tool) => tool.id}
      onOpen={(tool) => void navigate({ to: '/tools/$ref', params: { ref: tool.name } })}
      hasMore={hasMore}
      loadMore={loadMore}
      renderCells={(tool) => {
        const cost = costs?.get(tool.name)
        // An inactive tool says so itself.
        const isWithheld = costs !== undefined && cost === undefined && tool.is_active !== false
        return [
          <div key="name" className={classes.name}>
            <Link to="/tools/$ref" params={{ ref: tool.name }} className={classes.link}>
              <ForeignText limit={120}>{tool.name}</ForeignText>
            </Link>
            <span className={classes.muted}>{spellHidden(tool.description ?? '')}</span>
          </div>,
          isWithheld ? (
            <StatusBadge key="state" tone="warn" title="The owner of the agent may not call this tool">
              Not callable
            </StatusBadge>
          ) : (
            <ToolState key="state" tool={tool} />
          ),
          <span key="tokens" className={classes.number}>
            {formatRange(cost)}
          </span>,
          <Faults key="faults" cost={cost} />,
          <RemoveTool key="remove" agent={agent} tool={tool} />,
        ]
      }}
    />
  )
}

function formatRange(cost: ToolCost | undefined): string {
  if (cost === undefined) return '–'
  return cost.least === cost.most ? String(cost.least) : `${cost.least}–${cost.most}`
}

function Faults({ cost }: { cost: ToolCost | undefined }) {
  if (cost && cost.refusedBy.length > 0) {
    return (
      <StatusBadge
        tone="bad"
        title={`Refused by ${cost.refusedBy.join(', ')}`}
      >{`${cost.refusedBy.length} refuse`}</StatusBadge>
    )
  }
  if (cost && cost.misreadBy.length > 0) {
    return (
      <StatusBadge
        tone="warn"
        title={`Misread by ${cost.misreadBy.join(', ')}`}
      >{`${cost.misreadBy.length} misread`}</StatusBadge>
    )
  }
  return <span className={classes.muted}>{cost ? 'None' : ''}</span>
}

function RemoveTool({ agent, tool }: { agent: Agent; tool: ToolRow }) {
  const queryClient = useQueryClient()
  const reload = () => queryClient.invalidateQueries({ queryKey: ['agent', agent.id] })
  const name = spellHidden(tool.name)
  const remove = useAction({
    run: () => changeTools(agent.id, [], [tool.id]),
    changes: [['agent', agent.id], ['agents']],
    onDone: () =>
      offerUndo({
        message: `Took ${name} off the agent`,
        undo: async () => {
          await changeTools(agent.id, [tool.id], [])
          await reload()
        },
        undone: `${name} is on the agent again`,
      }),
  })
  return (
    <ActionButton action={remove} what="The change" size="compact-xs" variant="default" aria-label={`Remove ${name}`}>
      Remove
    </ActionButton>
  )
}
