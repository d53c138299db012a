import type { QueryClient } from '@tanstack/react-query'
import { meQuery } from './use_me.ts'

/**
 * Load again what the pages show after a log-in. The pages stay as they are for the same user; of another user, nothing
 * stays.
 */
export async function continueSession(queryClient: QueryClient): Promise<void> {
  const before = queryClient.getQueryData(meQuery.queryKey)
  const after = await queryClient.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined)
  if (before !== undefined && (after === undefined || after.user.id === before.user.id)) {
    await queryClient.invalidateQueries()
  } else await forgetSession(queryClient)
}

/** Forget all data of the session, so that the page of the log-in replaces the others. */
export async function forgetSession(queryClient: QueryClient): Promise<void> {
  queryClient.getMutationCache().clear()
  await queryClient.resetQueries()
}
