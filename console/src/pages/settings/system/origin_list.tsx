import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { Panel } from '../panel.tsx'
import { RowList } from '../row_list.tsx'
import { OriginRow } from './origin_row.tsx'
import { originsQuery } from './origins_query.ts'

/** The servers that HTTP tools call, with their circuit breakers and last failures. */
export function OriginList() {
  const origins = useQuery(originsQuery)
  return (
    <Panel
      title="HTTP servers"
      note="The servers that HTTP tools call. After several failures in a row, a circuit breaker refuses calls for a while."
    >
      {origins.error && (
        <ErrorState error={origins.error} what="The HTTP servers" retry={() => void origins.refetch()} />
      )}
      {origins.isPending && !origins.error && <ListOutline rows={2} />}
      {origins.data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No tool calls an HTTP server.
        </Text>
      )}
      {origins.data && origins.data.items.length > 0 && (
        <RowList items={origins.data.items} renderRow={(origin) => <OriginRow key={origin.origin} origin={origin} />} />
      )}
      {origins.data?.more && <Text size="sm">There are more; these are the first 200.</Text>}
    </Panel>
  )
}
