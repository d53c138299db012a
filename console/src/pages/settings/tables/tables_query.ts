import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'

export type Table = Schemas['TableResponse']

/** The file of tables in use, each table checked in its database. */
export const tablesQuery = queryOptions({
  queryKey: ['tables'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/tables', { signal })),
})
