import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client.ts'

export type Kind = Schemas['KindResponse']

/** The kinds of tools, and the schema of a definition. */
export const kindsQuery = queryOptions({
  queryKey: ['kinds'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/kinds', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
})
