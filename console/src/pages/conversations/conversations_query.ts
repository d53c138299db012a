import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'

export type Thread = Schemas['ThreadResponse']

const PAGE_SIZE = 100

/** The person's conversations, last changed first, a page at a time. */
export const conversationsQuery = infiniteQueryOptions({
  queryKey: ['threads'],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET('/v1/threads', { params: { query: { limit: PAGE_SIZE, cursor: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: (data) => data.pages.flatMap((page) => page.items),
  // Rows move only when the person asks for new ones.
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
})

/** Return the conversations whose title contains a text, in any case. */
export function filterThreads(threads: Thread[], text: string | undefined): Thread[] {
  const wanted = text?.trim().toLowerCase()
  return wanted ? threads.filter((thread) => (thread.title ?? '').toLowerCase().includes(wanted)) : threads
}
