import type { QueryClient, QueryKey } from '@tanstack/react-query'

/** Load again what a change may have made old, also what is being loaded for the first time: that may be from before it. */
export async function reloadQueries(queryClient: QueryClient, keys: readonly QueryKey[]): Promise<void> {
  await Promise.all(
    keys.map(async (queryKey) => {
      // `invalidateQueries` alone would wait for a first load, and take its result.
      await queryClient.cancelQueries({ queryKey })
      await queryClient.invalidateQueries({ queryKey })
    }),
  )
}
