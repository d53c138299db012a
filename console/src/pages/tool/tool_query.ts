import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../shared/api/client.ts'
import { parseExactly } from '../../shared/json/exact_json.ts'

/** One tool, by its name or id; its numbers keep their digits. */
export function toolQuery(ref: string) {
  return queryOptions({
    queryKey: ['tool', ref],
    queryFn: async ({ signal }) => {
      const params = { path: { ref } }
      const text = await unwrap<string>(api.GET('/v1/tools/{ref}', { params, parseAs: 'text', signal }))
      return parseExactly(text) as Schemas['ToolResponse']
    },
  })
}
