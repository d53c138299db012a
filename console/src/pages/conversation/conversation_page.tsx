import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy } from 'react'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { type PageTab, PageTabs } from '../../shared/tabs/page_tabs.tsx'
import { ConversationHeader } from './conversation_header.tsx'
import { threadQuery } from './conversation_query.ts'
import type { ConversationTab } from './conversation_search.ts'

const MessagesTab = lazy(() => import('./messages_tab.tsx'))
const HistoryTab = lazy(() => import('./history_tab.tsx'))

const route = getRouteApi('/conversations/$id')

/** One conversation: its messages, and its history for any provider. */
export function ConversationPage() {
  const { id } = route.useParams()
  const { tab } = route.useSearch()
  const thread = useQuery(threadQuery(id))
  if (thread.error && !thread.data) {
    return (
      <Stack gap="md" align="flex-start">
        <ErrorState error={thread.error} what={`The conversation ${id}`} retry={() => void thread.refetch()} />
        <Button variant="default" size="xs" renderRoot={(props) => <Link to="/conversations" {...props} />}>
          All conversations
        </Button>
      </Stack>
    )
  }
  if (!thread.data) return <ListOutline rows={4} />
  const tabs: PageTab<ConversationTab>[] = [
    { value: 'messages', label: 'Messages', panel: <MessagesTab thread={thread.data} /> },
    { value: 'history', label: "As a provider's history", panel: <HistoryTab thread={thread.data} /> },
  ]
  return (
    <>
      {thread.error && <ErrorState error={thread.error} what="The conversation" retry={() => void thread.refetch()} />}
      <ConversationHeader thread={thread.data} />
      <PageTabs key={thread.data.id} label="Tabs of the conversation" tabs={tabs} open={tab} />
    </>
  )
}
