import { Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMe } from '../../shared/session/use_me.ts'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { driftedToolsQuery, upstreamListQuery } from './imports_query.ts'
import { LoneToolChange } from './lone_tool_change.tsx'
import { UpstreamChanges } from './upstream_changes.tsx'

const route = getRouteApi('/imports')

/** What MCP servers have changed since it was accepted: it is refused until it is accepted. */
export function ChangeInbox() {
  const { open } = route.useSearch()
  const { user } = useMe()
  const upstreams = useInfiniteQuery(upstreamListQuery)
  const drifted = useQuery(driftedToolsQuery(user.role === 'admin'))
  const error = upstreams.error ?? drifted.error
  if (error) {
    const retry = () => {
      void upstreams.refetch()
      void drifted.refetch()
    }
    return <ErrorState error={error} what="The list of changes" retry={retry} />
  }
  if (!upstreams.data || !drifted.data) return <ListOutline rows={4} />
  const changed = upstreams.data.filter(({ id, counts }) => counts.drifted > 0 || id === open)
  const tags = new Set(upstreams.data.map(({ name }) => `mcp:${name}`))
  const lone = drifted.data.tools.filter((tool) => !(tool.tags ?? []).some((tag) => tags.has(tag)))
  if (changed.length + lone.length === 0) {
    return (
      <EmptyState title="No changes to accept">
        <Text size="sm" c="dimmed">
          If an MCP server changes a tool, prompt or resource that was imported, the change waits here. A change is
          noticed when the tool is called, and when you check its server under Sources.
        </Text>
      </EmptyState>
    )
  }
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        A changed description can tell a model to do something else. Calls are refused until the change is accepted.
      </Text>
      {changed.map((upstream) => (
        <UpstreamChanges key={upstream.id} upstream={upstream} isOpen={upstream.id === open || changed.length === 1} />
      ))}
      {lone.map((tool) => (
        <LoneToolChange key={tool.id} tool={tool} isOpen={tool.id === open} />
      ))}
      {drifted.data.hasMore && (
        <Text size="sm" c="dimmed">
          There are more changed tools than these.
        </Text>
      )}
    </Stack>
  )
}
