import createClient, { type Middleware } from 'openapi-fetch'
import { endSession } from '../session/session_state.ts'
import { ApiError, readProblem } from './api_error.ts'
import { BOARD_PATH } from './base_path.ts'
import { compareBuild } from './build_state.ts'
import type { components, paths } from './schema'

export type Schemas = components['schemas']

const noticeBuild: Middleware = {
  onResponse({ response }) {
    compareBuild(response.headers.get('X-Console-Build'))
  },
}

const noticeSessionEnd: Middleware = {
  onResponse({ response, schemaPath }) {
    if (response.status === 401 && schemaPath !== '/v1/sessions') endSession()
  },
  onError() {
    const detail = 'The server cannot be reached. It may be restarting; the page tries again by itself'
    return new ApiError(0, { title: 'No connection', detail })
  },
}

const NOT_JSON = {
  title: 'No answer of the board',
  detail: 'The answer is not JSON, so it does not come from the board; a proxy may be in between',
}

/** The requests of `/v1`, typed by `/openapi.json`. */
export const api = createClient<paths>({
  baseUrl: BOARD_PATH,
  credentials: 'same-origin',
})
api.use(noticeBuild, noticeSessionEnd)

/** Return the data of a response, or throw an ApiError. */
export async function unwrap<T>(request: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await request.catch((failure: unknown) => {
    // A success without JSON, such as the log-in page of a proxy.
    throw failure instanceof SyntaxError ? new ApiError(502, NOT_JSON) : failure
  })
  if (!response.ok) throw readProblem(response, error)
  return data as T
}
