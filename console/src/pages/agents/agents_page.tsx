import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { FilterInput } from '../../shared/list/filter_input.tsx'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { AgentList } from './agent_list.tsx'
import { agentsQuery, filterAgents } from './agents_query.ts'
import { NewAgent } from './new_agent.tsx'

const route = getRouteApi('/agents')

/** The list of agents. */
export function AgentsPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(agentsQuery)
  const filter = useCallback(
    (text: string) => void navigate({ search: { q: text || undefined }, replace: true, resetScroll: false }),
    [navigate],
  )
  const { fetchNextPage, isFetchingNextPage, hasNextPage } = list
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  const all = list.data ?? []
  const agents = filterAgents(all, q)
  return (
    <>
      <PageHeader
        title="Agents"
        aside={
          <Text size="sm" c="dimmed" aria-live="polite">
            {list.data && `${agents.length.toLocaleString('en')}${hasNextPage ? '+' : ''}${q ? ' match' : ''}`}
          </Text>
        }
      >
        <NewAgent />
      </PageHeader>
      <Text size="sm" c="dimmed" maw="75ch" mb="sm">
        An agent is a named selection of tools. A key that is bound to it calls these tools and no others.
      </Text>
      <Group gap="xs" mb="sm">
        <FilterInput value={q ?? ''} label="Filter by name or description" onChange={filter} />
      </Group>
      {list.error && <ErrorState error={list.error} what="The list of agents" retry={() => void list.refetch()} />}
      {list.isPending && !list.error && <ListOutline />}
      {list.data && agents.length === 0 && (
        <EmptyState title={q ? 'No agent matches this filter' : 'No agents yet'}>
          {q ? (
            <Button variant="default" size="xs" onClick={() => filter('')}>
              Remove the filter
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              Create one, choose its tools, and give its key to the program that runs the model.
            </Text>
          )}
        </EmptyState>
      )}
      {agents.length > 0 && (
        // Each page of a filtered list is loaded on request, because no page may match.
        <AgentList agents={agents} hasMore={hasNextPage && !q} loadMore={loadMore} />
      )}
      {q && hasNextPage && (
        <Group gap="xs" mt="sm">
          <Text size="sm">The first {all.length.toLocaleString('en')} agents were searched.</Text>
          <Button size="xs" variant="default" loading={isFetchingNextPage} onClick={loadMore}>
            Search on
          </Button>
        </Group>
      )}
    </>
  )
}
