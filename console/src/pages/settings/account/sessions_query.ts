import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'

export type Session = Schemas['SessionResponse']

const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/sessions', { signal })),
  select: (list) => [...list.items].reverse(),
})

/** Return the query of one's own sessions, the newest first. */
export function useSessions() {
  return useQuery(sessionsQuery)
}
