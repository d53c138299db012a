import { api, unwrap } from '../../../shared/api/client.ts'

// Few enough for one request to take about a second.
const ROWS_PER_REQUEST = 20_000

/** Return how many rows finished before a time. */
export async function countRows(before: string): Promise<number> {
  const body = { before, dry_run: true, force: false, limit: ROWS_PER_REQUEST }
  return (await unwrap(api.POST('/v1/executions/prune', { body }))).removed
}

/** Remove the rows that finished before a time; `onProgress` gets how many are removed so far. */
export async function pruneRows(
  before: string,
  force: boolean,
  onProgress: (removed: number) => void,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0
  while (true) {
    const body = { before, force, dry_run: false, limit: ROWS_PER_REQUEST }
    const done = await unwrap(api.POST('/v1/executions/prune', { body, signal }))
    removed += done.removed
    onProgress(removed)
    if (!done.more) return removed
  }
}
