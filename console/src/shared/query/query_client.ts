import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api_error.ts'

const MAX_PAUSE_MS = 10_000

/** The data of the pages. A server that is away is tried again with pauses; a refusal is not. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => isTemporary(error) && count < 20,
      retryDelay: (count) => Math.min(500 * 2 ** count, MAX_PAUSE_MS),
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
})

function isTemporary(error: Error): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 502 || error.status === 503)
}
