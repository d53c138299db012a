import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'
import { parseExactly } from '../../shared/json/exact_json.ts'
import { type ExecutionsSearch, listFilters } from './executions_search.ts'

export type Execution = Schemas['ExecutionResponse']

const PAGE_SIZE = 100

/** The rows of the journal that match, newest first, a page at a time. */
export function executionsQuery(search: ExecutionsSearch) {
  const filters = listFilters(search)
  return infiniteQueryOptions({
    queryKey: ['execution-list', filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filters, limit: PAGE_SIZE, cursor: pageParam }
      return unwrap(api.GET('/v1/executions', { params: { query: query as never }, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    select: (data) => ({
      rows: data.pages.flatMap((page) => page.items),
      searchedTo: (data.pages.at(-1) as Schemas['SearchedExecutionPage'] | undefined)?.searched_to ?? undefined,
    }),
    placeholderData: keepPreviousData,
    // Rows move only when the person asks for new ones.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

/** One row of the journal; its numbers keep their digits. */
export function executionQuery(id: string) {
  return queryOptions({
    queryKey: ['execution', id],
    queryFn: async ({ signal }) => {
      const params = { path: { execution_id: id } }
      const text = await unwrap(api.GET('/v1/executions/{execution_id}', { params, parseAs: 'text', signal }))
      return parseExactly(text) as Execution
    },
    staleTime: 60_000,
  })
}
