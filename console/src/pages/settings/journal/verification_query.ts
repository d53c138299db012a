import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'

export type Finding = Schemas['FindingBody']

/** When the whole journal was last verified. */
export const verificationQuery = queryOptions({
  queryKey: ['verification'],
  queryFn: ({ signal }) => unwrap(api.GET('/v1/executions/verification', { signal })),
})

/** Verify some rows, from `next` of the report before on. */
export function verifyRows(next: Schemas['Position'] | null, signal: AbortSignal): Promise<Schemas['VerifyResponse']> {
  return unwrap(api.POST('/v1/executions/verify', { body: { limit: MAX_ROWS, next }, signal }))
}

// What the server verifies in about a second at most.
const MAX_ROWS = 20_000
