import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../shared/api/client.ts'

/** The agents whose name contains a text; `/v1/search` finds at most 20. */
export function namedAgentsQuery(text: string) {
  return queryOptions({
    queryKey: ['search', 'agents', text],
    queryFn: ({ signal }) => {
      const query = { q: text.slice(0, 255) }
      return unwrap(api.GET('/v1/search', { params: { query }, signal }))
    },
    select: (found) => found.items.filter((item) => item.type === 'agent').slice(0, 5),
  })
}
