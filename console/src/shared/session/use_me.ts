import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => unwrap(api.GET('/v1/me')),
  staleTime: 60_000,
})

/** Return the person who is logged in; only pages within the shell use it. */
export function useMe() {
  return useSuspenseQuery(meQuery).data
}
