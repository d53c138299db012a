import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client.ts'

export type Key = Schemas['KeyResponse']

/** The keys of a user. */
export function keysQuery(userId: string) {
  return queryOptions({
    queryKey: ['keys', userId],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/users/{user_id}/keys', { params: { path: { user_id: userId } }, signal })),
    select: (list) => list.items,
  })
}
