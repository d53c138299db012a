import { Alert, Code, List, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ActionButton } from '../../../shared/action/action_button.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { EmptyState } from '../../../shared/states/empty_state.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'
import { RowList } from '../row_list.tsx'
import { TableRow } from './table_row.tsx'
import { tablesQuery } from './tables_query.ts'

/** The file of tables, and the state of each table in its database. */
export default function TablesSection() {
  const tables = useQuery(tablesQuery)
  const queryClient = useQueryClient()
  const reload = useAction({
    run: async () => {
      try {
        await unwrap(api.POST('/v1/tables/reload'))
      } finally {
        // A file that is refused is shown with its errors.
        void queryClient.invalidateQueries({ queryKey: tablesQuery.queryKey })
      }
    },
    changes: [['tool']],
  })
  if (tables.error) return <ErrorState error={tables.error} what="The tables" retry={() => void tables.refetch()} />
  if (!tables.data) return <ListOutline />
  const { file, loaded_at, error, items } = tables.data
  if (file === null) {
    return (
      <EmptyState title="This board has no file of tables">
        <Text size="sm" c="dimmed">
          A file of tables makes tools that insert rows into your databases. Write one, and set{' '}
          <Code>PEGBOARD_TABLES</Code> to its path before the server starts.
        </Text>
      </EmptyState>
    )
  }
  const disabled = items.filter((table) => table.status === 'disabled').length
  return (
    <Panel
      title="Tables"
      note="Each table of the file is a tool that inserts rows. The server reads the file again by itself when it changes."
      actions={
        <ActionButton
          size="xs"
          variant="default"
          leftSection={<Icon name="refresh" size={14} />}
          action={reload}
          what="Reading the file"
        >
          Read the file now
        </ActionButton>
      }
    >
      <dl className={classes.list}>
        <dt>File</dt>
        <dd>
          <ForeignText isMono>{file}</ForeignText>
        </dd>
        <dt>In use since</dt>
        <dd>{loaded_at ? <TimeText>{loaded_at}</TimeText> : 'Never: no version of it was valid'}</dd>
        <dt>Tables</dt>
        <dd>
          {items.length}
          {disabled > 0 && `, of which ${disabled} cannot be used`}
        </dd>
      </dl>
      {error && (
        <Alert
          color="red"
          variant="light"
          icon={<Icon name="alert" />}
          title="The file is not in use as it is now"
          mt="md"
        >
          <Text size="sm">
            <ForeignText>{error.message}</ForeignText>
          </Text>
          <List size="sm" my="xs">
            {error.errors.map((fault) => (
              <List.Item key={`${fault.field} ${fault.message}`}>
                <ForeignText isMono>{fault.field}</ForeignText>: <ForeignText>{fault.message}</ForeignText>
              </List.Item>
            ))}
          </List>
          <Text size="sm">Correct the file; what was valid before stays in use until then.</Text>
        </Alert>
      )}
      {items.length > 0 && (
        <RowList items={items} renderRow={(table) => <TableRow key={table.tool_id} table={table} />} />
      )}
      {items.length === 0 && !error && (
        <Text size="sm" c="dimmed" mt="sm">
          The file has no tables.
        </Text>
      )}
    </Panel>
  )
}
