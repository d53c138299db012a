import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { upstreamsQuery } from '../../../shared/board/board_query.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { Panel } from '../panel.tsx'
import { RowList } from '../row_list.tsx'
import { UpstreamRow } from './upstream_row.tsx'

/** The imported MCP servers, with their sessions, circuit breakers and last errors. */
export function UpstreamList() {
  const upstreams = useQuery(upstreamsQuery)
  return (
    <Panel title="MCP servers" note="The imported ones of all users, as the process that answers sees them.">
      {upstreams.error && (
        <ErrorState error={upstreams.error} what="The MCP servers" retry={() => void upstreams.refetch()} />
      )}
      {upstreams.isPending && !upstreams.error && <ListOutline rows={2} />}
      {upstreams.data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No MCP server is imported.
        </Text>
      )}
      {upstreams.data && upstreams.data.items.length > 0 && (
        <RowList
          items={upstreams.data.items}
          renderRow={(upstream) => <UpstreamRow key={upstream.id} upstream={upstream} />}
        />
      )}
      {upstreams.data?.next_cursor && <Text size="sm">There are more; these are the first 100.</Text>}
    </Panel>
  )
}
