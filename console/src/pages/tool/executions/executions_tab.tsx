import { Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Schemas } from '../../../shared/api/client.ts'
import { LatencyHistogram } from '../../../shared/chart/latency_histogram.tsx'
import { ChoiceSelect } from '../../../shared/list/choice_select.tsx'
import { useMe } from '../../../shared/session/use_me.ts'
import { EmptyState } from '../../../shared/states/empty_state.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ExecutionList } from '../../executions/execution_list.tsx'
import { executionsQuery } from '../../executions/executions_query.ts'
import { NewRows } from '../../executions/new_rows.tsx'
import { STATUS_CHOICES } from '../../executions/status_text.ts'
import { SPANS, type Span, type ToolSearch } from '../tool_search.ts'
import { ToolNumbers } from './tool_numbers.tsx'
import { toolStatisticsQuery } from './tool_statistics_query.ts'

const route = getRouteApi('/tools/$ref')
const SPAN_TEXT: Record<Span, string> = { hour: '1 hour', day: '1 day', week: '7 days', month: '30 days' }

/** The calls of a tool: their numbers, how long they took, and their rows in the journal. */
export default function ExecutionsTab({ tool }: { tool: Schemas['ToolResponse'] }) {
  const { span = 'week', status } = route.useSearch()
  const { user } = useMe()
  const navigate = route.useNavigate()
  const change = (next: Partial<ToolSearch>) =>
    void navigate({ search: (all) => ({ ...all, ...next }), replace: true, resetScroll: false })
  const statistics = useQuery(toolStatisticsQuery(tool.name, span))
  const found = statistics.data?.tools[0]
  // By its id, so that calls under a former name are listed too.
  const search = { tool: tool.id, status }
  const list = useInfiniteQuery(executionsQuery(search))
  const { fetchNextPage, isFetchingNextPage } = list
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  const rows = list.data?.rows ?? []
  const filters = { tool: tool.name, status }
  return (
    <Stack gap="lg">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Time span"
            data={SPANS.map((value) => ({ value, label: SPAN_TEXT[value] }))}
            value={span}
            onChange={(next) => change({ span: next as Span })}
          />
          {user.role !== 'admin' && (
            <Text size="sm" c="dimmed">
              Your calls; admins see those of all users.
            </Text>
          )}
        </Group>
        {statistics.error && (
          <ErrorState error={statistics.error} what="The statistics" retry={() => void statistics.refetch()} />
        )}
        {statistics.data && !found && (
          <Text size="sm" c="dimmed">
            No call in this time span.
          </Text>
        )}
        {statistics.data && found && (
          <>
            <ToolNumbers name={tool.name} since={statistics.data.since} found={found} />
            {statistics.data.latencies.length > 0 ? (
              <LatencyHistogram latencies={statistics.data.latencies} />
            ) : (
              <Text size="sm" c="dimmed">
                No call ran, so there are no durations.
              </Text>
            )}
          </>
        )}
      </Stack>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2}>Rows in the journal</Title>
          <Group gap="xs">
            <ChoiceSelect
              label="Status"
              all="Any status"
              value={status}
              choices={STATUS_CHOICES}
              onChange={(next) => change({ status: next })}
            />
            <NewRows search={search} rows={rows} onShow={() => void list.refetch()} />
            <Button
              size="xs"
              variant="default"
              renderRoot={(props) => <Link to="/executions" search={filters} {...props} />}
            >
              Open in Executions
            </Button>
          </Group>
        </Group>
        {list.error && <ErrorState error={list.error} what="The journal" retry={() => void list.refetch()} />}
        {list.isPending && !list.error && <ListOutline />}
        {list.data && rows.length === 0 && (
          <EmptyState title={status === undefined ? 'No calls yet' : 'No call has this status'}>
            {status === undefined ? (
              <Text size="sm" c="dimmed">
                Call the tool in Try it; each call is a row here.
              </Text>
            ) : (
              <Button variant="default" size="xs" onClick={() => change({ status: undefined })}>
                Show any status
              </Button>
            )}
          </EmptyState>
        )}
        {rows.length > 0 && (
          <ExecutionList
            rows={rows}
            filters={filters}
            openKey={undefined}
            onOpen={(row) => void navigate({ to: '/executions', search: { ...filters, open: row.id } })}
            hasMore={list.hasNextPage}
            loadMore={loadMore}
          />
        )}
      </Stack>
    </Stack>
  )
}
