import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../shared/api/client.ts'
import { readCall, type StoredCall } from '../../shared/call_card/stored_call.ts'
import { parseExactly } from '../../shared/json/exact_json.ts'

const PAGE_SIZE = 50
/** The most messages in one history. */
const HISTORY_SIZE = 200

/** One message of a conversation. */
export interface Message {
  id: string
  role: string
  content: string | null
  timestamp: string
  calls: StoredCall[]
}

/** A history for a provider, or a part of it. */
export interface History {
  items: unknown[]
  /** The system text, if the provider takes it apart from the messages. */
  system: unknown
  next: string | undefined
}

/** One conversation, without its messages. */
export function threadQuery(id: string) {
  return queryOptions({
    queryKey: ['thread', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/threads/{thread_id}', { params: { path: { thread_id: id } }, signal })),
  })
}

/** The messages of a conversation, oldest first, a page at a time; numbers keep their digits. */
export function messagesQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['thread', id, 'messages'],
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { thread_id: id }, query: { limit: PAGE_SIZE, cursor: pageParam } }
      const text = await unwrap<string>(
        api.GET('/v1/threads/{thread_id}/messages', { params, parseAs: 'text', signal }),
      )
      const page = parseExactly(text) as { items: Record<string, unknown>[]; next_cursor: string | null }
      return { messages: page.items.map(readMessage), next: page.next_cursor ?? undefined }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    select: (data) => data.pages.flatMap((page) => page.messages),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

/** The conversation as messages of a provider, from a cursor on. */
export function historyQuery(id: string, dialect: string, after: string | undefined) {
  return queryOptions({
    queryKey: ['thread', id, 'history', dialect, after],
    queryFn: async ({ signal }): Promise<History> => {
      const params = { path: { thread_id: id }, query: { as: dialect, limit: HISTORY_SIZE, cursor: after } }
      const text = await unwrap<string>(
        api.GET('/v1/threads/{thread_id}/messages', { params, parseAs: 'text', signal }),
      )
      const page = parseExactly(text) as { items: unknown[]; next_cursor: string | null; system: unknown }
      return { items: page.items, system: page.system, next: page.next_cursor ?? undefined }
    },
  })
}

function readMessage(item: Record<string, unknown>): Message {
  const calls = Array.isArray(item.tool_calls) ? item.tool_calls : []
  return {
    id: String(item.id),
    role: String(item.role),
    content: typeof item.content === 'string' ? item.content : null,
    timestamp: String(item.timestamp),
    calls: calls.map(readCall),
  }
}
