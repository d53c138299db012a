import { List } from '@mantine/core'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { PanelRow } from '../panel_row.tsx'
import type { Table } from './tables_query.ts'
import { ToolLink } from './tool_link.tsx'

/** One table: its tools, its database, and why it cannot be used. */
export function TableRow({ table }: { table: Table }) {
  const place = table.schema ? `${table.schema}.${table.table}` : table.table
  return (
    <PanelRow
      name={
        <>
          <ForeignText limit={120}>{table.display_name}</ForeignText>
          <StatusBadge tone={table.status === 'ok' ? 'good' : 'bad'} hasDot>
            {table.status === 'ok' ? 'Ready' : 'Cannot be used'}
          </StatusBadge>
          {table.public && <StatusBadge tone="idle">Public</StatusBadge>}
          {table.audit && <StatusBadge tone="idle">Arguments kept</StatusBadge>}
        </>
      }
      facts={
        <>
          <span>
            Tool <ToolLink name={table.tool_id} />
            {table.batch_tool_id && (
              <>
                {', many rows: '}
                <ToolLink name={table.batch_tool_id} />
              </>
            )}
          </span>
          <span>
            Table <ForeignText isMono>{place}</ForeignText>
          </span>
          <span>
            Database <ForeignText isMono>{table.database}</ForeignText>
          </span>
        </>
      }
    >
      {table.problems.length > 0 && (
        <List size="sm" mt={4}>
          {table.problems.map((problem) => (
            <List.Item key={`${problem.code} ${problem.message}`}>
              <ForeignText limit={600}>{problem.message}</ForeignText>
              {problem.field && (
                <>
                  {' ('}
                  <ForeignText isMono>{problem.field}</ForeignText>)
                </>
              )}
            </List.Item>
          ))}
        </List>
      )}
    </PanelRow>
  )
}
