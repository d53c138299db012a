import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

/** The dialects of the board, in the order of the API. */
export const dialectsQuery = queryOptions({
  queryKey: ['dialects'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/dialects', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
})
