import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import type { Thread } from '../conversations/conversations_query.ts'
import { messagesQuery } from './conversation_query.ts'
import { MessageList } from './message_list.tsx'

/** The messages of a conversation. */
export default function MessagesTab({ thread }: { thread: Thread }) {
  const list = useInfiniteQuery(messagesQuery(thread.id))
  const { fetchNextPage, isFetchingNextPage, hasNextPage } = list
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  const messages = list.data ?? []
  return (
    <>
      <Group justify="space-between" gap="xs" mb="sm">
        <Text size="sm" c="dimmed">
          Oldest first. <kbd>j</kbd> and <kbd>k</kbd> go to the next and the previous message.
        </Text>
        <Button size="xs" variant="default" onClick={() => void list.refetch()} loading={list.isRefetching}>
          Reload
        </Button>
      </Group>
      {list.error && <ErrorState error={list.error} what="The messages" retry={() => void list.refetch()} />}
      {list.isPending && !list.error && <ListOutline />}
      {list.data && messages.length === 0 && (
        <EmptyState title="No messages yet">
          <Text size="sm" c="dimmed">
            A program adds one with <code>POST /v1/threads/{'{id}'}/messages</code>.
          </Text>
        </EmptyState>
      )}
      {messages.length > 0 && <MessageList messages={messages} hasMore={hasNextPage} loadMore={loadMore} />}
    </>
  )
}
