import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

/** The meaning of each error code, and what to do. */
export const codesQuery = queryOptions({
  queryKey: ['codes'],
  queryFn: async ({ signal }) => {
    const { items } = await unwrap(api.GET('/v1/codes', { signal }))
    return new Map(items.map((item) => [item.code, item]))
  },
  staleTime: Number.POSITIVE_INFINITY,
})
