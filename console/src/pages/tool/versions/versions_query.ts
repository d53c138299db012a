import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'
import { parseExactly } from '../../../shared/json/exact_json.ts'

const PAGE_SIZE = 20

/** The versions of a tool, newest first, a page at a time; their numbers keep their digits. */
export function versionsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['tool', id, 'versions'],
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { ref: id }, query: { limit: PAGE_SIZE, cursor: pageParam } }
      const request = api.GET('/v1/tools/{ref}/versions', { params, parseAs: 'text', signal })
      return parseExactly(await unwrap<string>(request)) as Schemas['VersionPage']
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    select: (data) => data.pages.flatMap((page) => page.items),
  })
}
