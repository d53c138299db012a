import { notifyManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { queryClient } from './query_client.ts'

const cache = queryClient.getQueryCache()

/** Return the error of a request that failed and is being tried again, if there is one. */
export function useRetriedError(): Error | undefined {
  return useSyncExternalStore(
    (listener) => cache.subscribe(notifyManager.batchCalls(listener)),
    () => {
      const retried = cache.getAll().find(({ state }) => state.fetchStatus !== 'idle' && state.fetchFailureCount > 0)
      return retried?.state.fetchFailureReason ?? undefined
    },
  )
}
