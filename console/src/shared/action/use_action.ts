import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { reloadQueries } from '../query/reload_queries.ts'

interface ActionOptions<Data, Input> {
  /** The writing request. */
  run: (input: Input) => Promise<Data>
  /** Beginnings of the keys of the queries that show what it changes, such as `[['tool-list'], ['tool', id]]`. */
  changes?: QueryKey[]
  onDone?: (data: Data, input: Input) => void
}

export type Action<Data, Input> = UseMutationResult<Data, Error, Input>

/** An action without input, as buttons and dialogs take it. */
export interface PlainAction {
  mutate: () => void
  reset: () => void
  isPending: boolean
  error: Error | null
}

/** A writing request with its pending state and its error; what it changes is loaded again after it. */
export function useAction<Data, Input = void>(options: ActionOptions<Data, Input>): Action<Data, Input> {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: options.run,
    onSuccess: (data, input) => {
      void reloadQueries(queryClient, options.changes ?? [])
      options.onDone?.(data, input)
    },
  })
}
