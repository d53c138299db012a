import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { FilterInput } from '../../shared/list/filter_input.tsx'
import { NewRowsButton } from '../../shared/list/new_rows_button.tsx'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { ConversationList } from './conversation_list.tsx'
import { conversationsQuery, filterThreads } from './conversations_query.ts'

const route = getRouteApi('/conversations')

/** The list of one's conversations. */
export function ConversationsPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(conversationsQuery)
  const filter = useCallback(
    (text: string) => void navigate({ search: { q: text || undefined }, replace: true, resetScroll: false }),
    [navigate],
  )
  const { fetchNextPage, isFetchingNextPage, hasNextPage } = list
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  const all = list.data ?? []
  const threads = filterThreads(all, q)
  return (
    <>
      <PageHeader title="Conversations">
        <Button size="xs" variant="default" renderRoot={(props) => <Link to="/conversations/inspector" {...props} />}>
          Inspect a payload
        </Button>
        <NewRowsButton count="" what="" onShow={() => void list.refetch()} />
      </PageHeader>
      <Text size="sm" c="dimmed" maw="75ch" mb="sm">
        Messages and calls that programs have stored on this board with your keys. Only you see them.
      </Text>
      <Group gap="xs" mb="sm">
        <FilterInput value={q ?? ''} label="Filter by title" onChange={filter} />
      </Group>
      {list.error && <ErrorState error={list.error} what="The conversations" retry={() => void list.refetch()} />}
      {list.isPending && !list.error && <ListOutline />}
      {list.data && threads.length === 0 && (
        <EmptyState title={q ? 'No conversation matches this filter' : 'No conversations yet'}>
          {q ? (
            <Button variant="default" size="xs" onClick={() => filter('')}>
              Remove the filter
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              A program creates one with <code>POST /v1/threads</code>, and runs calls in it with{' '}
              <code>POST /v1/calls?thread=ID</code>. On the command line: <code>pegboard threads new</code>.
            </Text>
          )}
        </EmptyState>
      )}
      {threads.length > 0 && (
        // Each page of a filtered list is loaded on request, because no page may match.
        <ConversationList threads={threads} hasMore={hasNextPage && !q} loadMore={loadMore} />
      )}
      {q && hasNextPage && (
        <Group gap="xs" mt="sm">
          <Text size="sm">The latest {all.length.toLocaleString('en')} conversations were searched.</Text>
          <Button size="xs" variant="default" loading={isFetchingNextPage} onClick={loadMore}>
            Search on
          </Button>
        </Group>
      )}
    </>
  )
}
