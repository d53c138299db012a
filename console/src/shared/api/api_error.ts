import type { components } from './schema'

export type Problem = components['schemas']['ProblemBody']

/** A request that the board refused, or that did not reach it (status 0). */
export class ApiError extends Error {
  readonly status: number
  readonly title: string
  readonly requestId: string | undefined
  readonly faults: { field: string; message: string }[]
  readonly retryAfter: number | undefined

  constructor(status: number, problem: Partial<Problem>, retryAfter?: number) {
    super(problem.detail || problem.title || 'The request failed')
    this.name = 'ApiError'
    this.status = status
    this.title = problem.title ?? (status === 0 ? 'No connection' : `HTTP ${status}`)
    this.requestId = problem.request_id ?? undefined
    this.faults = problem.errors ?? []
    this.retryAfter = retryAfter
  }
}

/** Return the error for a body that is not what was expected: problem+json, or the HTML of a proxy. */
export function readProblem(response: Response, body: unknown): ApiError {
  const retryAfter = Number(response.headers.get('Retry-After')) || undefined
  const requestId = response.headers.get('X-Request-Id') ?? undefined
  if (typeof body === 'object' && body !== null) {
    return new ApiError(response.status, { request_id: requestId, ...body }, retryAfter)
  }
  const detail = `The server answered with HTTP ${response.status} and no explanation; a proxy may be in between`
  return new ApiError(response.status, { detail, request_id: requestId }, retryAfter)
}
