import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError } from '../api/api_error.ts'
import type { Definition } from './definition_values.ts'

const PAUSE_MS = 400
const NO_FAULTS: ApiError['faults'] = []

/** What the server says about a definition that is not saved. */
export interface DryRun {
  phase: 'none' | 'checking' | 'valid' | 'refused' | 'failed'
  /** Why it was refused, by field; a refusal without fields has only an error. */
  faults: ApiError['faults']
  error: Error | undefined
}

/** Check a request with the server while the person types; undefined is not checked. */
export function useDryRun(
  key: string,
  body: Definition | undefined,
  check: (body: Definition) => Promise<unknown>,
): DryRun {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  const dryRun = useQuery({
    queryKey: ['dry-run', key, settled],
    queryFn: async () => {
      try {
        await check(body as Definition)
        return null
      } catch (error) {
        // A refusal is an answer; it stays until the next one.
        if (error instanceof ApiError && [403, 409, 413, 422].includes(error.status)) return error
        throw error
      }
    },
    enabled: settled !== undefined && settled === text,
    placeholderData: keepPreviousData,
    select: (error) => ({ error }),
    gcTime: 0,
    staleTime: 30_000,
  })
  if (text === undefined) return { phase: 'none', faults: NO_FAULTS, error: undefined }
  const refusal = dryRun.data?.error ?? undefined
  const isChecking = settled !== text || dryRun.isFetching
  const faults = refusal?.faults ?? NO_FAULTS
  if (dryRun.error) return { phase: 'failed', faults: NO_FAULTS, error: dryRun.error }
  if (isChecking) return { phase: 'checking', faults, error: refusal }
  return { phase: refusal ? 'refused' : 'valid', faults, error: refusal }
}
