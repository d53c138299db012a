import { ApiError, readProblem } from '../../shared/api/api_error.ts'
import { BOARD_PATH } from '../../shared/api/base_path.ts'
import { endSession } from '../../shared/session/session_state.ts'
import { readEvents } from '../../shared/stream/read_events.ts'
import type { McpBody, OpenApiBody } from './import_form.ts'
import type { ImportReport } from './report_rows.ts'

export type ImportRequest =
  | { from: 'openapi'; body: OpenApiBody; by: string }
  | { from: 'mcp'; body: McpBody; by: string }

export interface ImportProgress {
  /** `fetching`, `listing`, `reading` or `importing`. */
  what: string
  done: number
  total: number
}

/** Run an import, or its dry run, and report its progress; an aborted one ends on the server. */
export async function sendImport(
  { from, body }: ImportRequest,
  isDryRun: boolean,
  signal: AbortSignal,
  onProgress: (progress: ImportProgress) => void,
): Promise<ImportReport> {
  const response = await fetch(`${BOARD_PATH}/v1/imports/${from}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ ...body, dry_run: isDryRun }),
    credentials: 'same-origin',
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error
    throw lostConnection()
  })
  if (response.status === 401) endSession()
  if (!response.ok) throw readProblem(response, await response.json().catch(() => undefined))
  for await (const event of readEvents(response)) {
    const data: unknown = JSON.parse(event.data)
    if (event.name === 'progress') onProgress(data as ImportProgress)
    if (event.name === 'complete') return data as ImportReport
    if (event.name === 'error') {
      const problem = data as { status: number }
      throw new ApiError(problem.status, problem)
    }
  }
  throw lostConnection()
}

function lostConnection(): ApiError {
  const detail = 'The connection broke before there was a report. Nothing, or everything, was imported; check again'
  return new ApiError(0, { title: 'No connection', detail })
}
