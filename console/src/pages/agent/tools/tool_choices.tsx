import { Checkbox } from '@mantine/core'
import { DataList } from '../../../shared/list/data_list.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { ToolState } from '../../tools/tool_state.tsx'
import type { ToolRow } from '../agent_query.ts'
import classes from './tools_tab.module.css'

const COLUMNS = ['Chosen', 'Name', 'Kind', 'State']

interface ToolChoicesProps {
  tools: ToolRow[]
  chosen: ReadonlyMap<string, ToolRow>
  onToggle: (tool: ToolRow) => void
  hasMore: boolean
  loadMore: () => void
}

/** The board's tools, each with a checkbox; a click on a row, or Enter, changes it. */
export function ToolChoices({ tools, chosen, onToggle, hasMore, loadMore }: ToolChoicesProps) {
  return (
    <DataList
      label="Tools to choose from"
      columns={COLUMNS}
      rows={tools}
      className={classes.choices}
      rowHeight={55}
      keyOf={(tool) => tool.id}
      onOpen={onToggle}
      hasMore={hasMore}
      loadMore={loadMore}
      renderCells={(tool) => [
        <Checkbox
          key="chosen"
          aria-label={spellHidden(tool.name)}
          checked={chosen.has(tool.id)}
          onChange={() => onToggle(tool)}
        />,
        <div key="name" className={classes.name}>
          <span className={classes.plain}>
            <ForeignText limit={120}>{tool.name}</ForeignText>
          </span>
          <span className={classes.muted}>{spellHidden(tool.description ?? '')}</span>
        </div>,
        <span key="kind" className={classes.muted}>
          {tool.tool_type}
        </span>,
        <ToolState key="state" tool={tool} />,
      ]}
    />
  )
}
