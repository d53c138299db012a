import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'

export type Secret = Schemas['UsedSecretResponse']

const PAGE_SIZE = 40

/** One's own secrets with what refers to them, a page at a time; the API has no values. */
export const secretsQuery = infiniteQueryOptions({
  queryKey: ['secrets'],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET('/v1/secrets', { params: { query: { limit: PAGE_SIZE, cursor: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: (data) => data.pages.flatMap((page) => page.items),
})
