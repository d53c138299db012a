import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'

export type User = Schemas['UserResponse']

const PAGE_SIZE = 100

/** All users, a page at a time, oldest first. */
export const usersQuery = infiniteQueryOptions({
  queryKey: ['users', 'list'],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET('/v1/users', { params: { query: { limit: PAGE_SIZE, cursor: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: (data) => data.pages.flatMap((page) => page.items),
})

/** One user. */
export function userQuery(id: string) {
  return queryOptions({
    queryKey: ['users', 'one', id],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/users/{user_id}', { params: { path: { user_id: id } }, signal })),
  })
}
