import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../../shared/api/client.ts'

/** The names of the dialects that results can have, the board's own first. */
export const dialectsQuery = queryOptions({
  queryKey: ['dialects'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/dialects', { signal })),
  select: (all) => {
    const names = all.filter((each) => each.abilities.includes('render')).map((each) => each.name)
    return ['plain', ...names.filter((name) => name !== 'plain').sort()]
  },
  staleTime: Number.POSITIVE_INFINITY,
})
