import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../shared/api/client.ts'

/** One tool, by its name or id. */
export function toolQuery(ref: string) {
  return queryOptions({
    queryKey: ['tool', ref],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/tools/{ref}', { params: { path: { ref } }, signal })),
  })
}
