import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../../shared/api/client.ts'

const REFRESH_MS = 30_000

/** The servers that HTTP tools call. */
export const originsQuery = queryOptions({
  queryKey: ['origins'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/upstreams/origins', { signal })),
  refetchInterval: REFRESH_MS,
})
