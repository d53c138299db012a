import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import { EmptyState } from '../../../shared/states/empty_state.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import type { Agent } from '../../agents/agents_query.ts'
import { agentLintQuery, agentToolsQuery } from '../agent_query.ts'
import { AgentTools } from './agent_tools.tsx'
import { TokenTotals } from './token_totals.tsx'
import classes from './tools_tab.module.css'

const ToolChooser = lazy(() => import('./tool_chooser.tsx'))

const route = getRouteApi('/agents/$id')

/** The tools of an agent with what they cost, or the list to choose them from. */
export default function ToolsTab({ agent }: { agent: Agent }) {
  const { choose } = route.useSearch()
  const navigate = route.useNavigate()
  const tools = useInfiniteQuery(agentToolsQuery(agent.id))
  const lint = useQuery(agentLintQuery(agent.id))
  const setChoosing = useCallback(
    (isChoosing: boolean) =>
      void navigate({
        search: (all) => ({ ...all, choose: isChoosing || undefined, q: undefined }),
        resetScroll: false,
      }),
    [navigate],
  )
  const { fetchNextPage, isFetchingNextPage, hasNextPage } = tools
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  if (tools.error && !tools.data) {
    return <ErrorState error={tools.error} what="The tools of the agent" retry={() => void tools.refetch()} />
  }
  if (!tools.data) return <ListOutline rows={4} />
  if (choose) {
    return (
      <Suspense fallback={<ListOutline rows={6} />}>
        <ToolChooser agent={agent} onClose={() => setChoosing(false)} />
      </Suspense>
    )
  }
  const hidden = hasNextPage ? 0 : agent.tools.length - tools.data.length
  return (
    <div className={classes.columns}>
      <div>
        <Group justify="space-between" gap="xs" mb="sm">
          <Text size="sm">{agent.tools.length === 1 ? '1 tool' : `${agent.tools.length} tools`}</Text>
          <Button size="xs" onClick={() => setChoosing(true)}>
            Choose tools
          </Button>
        </Group>
        {tools.data.length === 0 && (
          <EmptyState title="No tools yet">
            <Text size="sm" c="dimmed">
              Keys of this agent can call nothing until it has tools.
            </Text>
          </EmptyState>
        )}
        {tools.data.length > 0 && (
          <AgentTools agent={agent} tools={tools.data} lint={lint.data} hasMore={hasNextPage} loadMore={loadMore} />
        )}
        {hidden > 0 && (
          <Text size="sm" c="dimmed" mt="xs">
            {hidden} more {hidden === 1 ? 'is' : 'are'} deleted or no longer visible to you; a restored tool is on the
            agent again.
          </Text>
        )}
      </div>
      <section aria-label="Cost of the tools">
        {lint.error && <ErrorState error={lint.error} what="The tokens" retry={() => void lint.refetch()} />}
        {lint.data && <TokenTotals lint={lint.data} isOld={lint.isPlaceholderData} />}
      </section>
    </div>
  )
}
