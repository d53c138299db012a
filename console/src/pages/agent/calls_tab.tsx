import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, unwrap } from '../../shared/api/client.ts'
import { formatDuration } from '../../shared/format/numbers.ts'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import type { Agent } from '../agents/agents_query.ts'
import { STATUS_TEXT } from '../executions/status_text.ts'

const SHOWN = 20

function agentCallsQuery(id: string) {
  return queryOptions({
    queryKey: ['agent', id, 'calls'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/executions', { params: { query: { agent: id, limit: SHOWN } }, signal })),
  })
}

/** The latest calls with keys of an agent. */
export default function CallsTab({ agent }: { agent: Agent }) {
  const calls = useQuery(agentCallsQuery(agent.id))
  const rows = calls.data?.items ?? []
  const searchedTo = calls.data && 'searched_to' in calls.data ? calls.data.searched_to : undefined
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text size="sm">The latest calls with keys of this agent.</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => void calls.refetch()} loading={calls.isFetching}>
            Reload
          </Button>
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => <Link to="/executions" search={{ agent: agent.id }} {...props} />}
          >
            All in Executions
          </Button>
        </Group>
      </Group>
      {calls.error && <ErrorState error={calls.error} what="The calls" retry={() => void calls.refetch()} />}
      {calls.isPending && !calls.error && <ListOutline rows={4} />}
      {calls.data && rows.length === 0 && (
        <EmptyState title={searchedTo ? 'No call in the part of the journal that was searched' : 'No calls yet'}>
          <Text size="sm" c="dimmed">
            {searchedTo ? 'Executions searches on.' : 'A call with a key of this agent is listed here.'}
          </Text>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Table.ScrollContainer minWidth={480}>
          <Table aria-label="Calls of the agent">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                <Table.Th>Tool</Table.Th>
                <Table.Th>Status</Table.Th>
                <Table.Th>Code</Table.Th>
                <Table.Th>Duration</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Table.Tr key={row.id}>
                  <Table.Td>
                    <Anchor
                      size="sm"
                      renderRoot={(props) => (
                        <Link to="/executions" search={{ agent: agent.id, open: row.id }} {...props} />
                      )}
                    >
                      <TimeText>{row.started_at}</TimeText>
                    </Anchor>
                  </Table.Td>
                  <Table.Td>
                    <ForeignText isMono limit={100}>
                      {row.tool_name}
                    </ForeignText>
                  </Table.Td>
                  <Table.Td>
                    <StatusBadge tone={STATUS_TEXT[row.status].tone} hasDot>
                      {STATUS_TEXT[row.status].label}
                    </StatusBadge>
                  </Table.Td>
                  <Table.Td>{row.code}</Table.Td>
                  <Table.Td>{formatDuration(row.elapsed_ms)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}
