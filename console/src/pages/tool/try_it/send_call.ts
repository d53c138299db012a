import { ApiError, readProblem } from '../../../shared/api/api_error.ts'
import { BOARD_PATH } from '../../../shared/api/base_path.ts'
import { parseExactly } from '../../../shared/json/exact_json.ts'
import { endSession } from '../../../shared/session/session_state.ts'
import type { StreamEvent } from '../../../shared/stream/event_parser.ts'
import { choosePause, wait } from '../../../shared/stream/pause.ts'
import { readEvents } from '../../../shared/stream/read_events.ts'

export interface CallRequest {
  tool: string
  /** JSON text, sent as it is, so that every digit arrives. */
  body: string
  idempotencyKey: string
  /** The dialect of the answer. */
  dialect: string
}

const ATTEMPTS = 6

/** Make a call and give each of its events to `onEvent`; a stream that breaks is continued after the last event. */
export async function sendCall(
  request: CallRequest,
  signal: AbortSignal,
  onStart: (stream: string) => void,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  let response = await connect(startRequest(request), signal)
  const stream = response.headers.get('X-Run-Id') ?? ''
  onStart(stream)
  let lastId = '0'
  for (let failures = 0; failures < ATTEMPTS; failures += 1) {
    try {
      for await (const event of readEvents(response)) {
        lastId = event.id || lastId
        onEvent(event)
        if (event.name === 'complete' || event.name === 'error') return
      }
    } catch {
      if (signal.aborted) throw signal.reason
    }
    await wait(choosePause(failures + 1), signal)
    const continued = new Request(`${BOARD_PATH}/v1/calls/${stream}/events?last_event_id=${lastId}`)
    response = await connect(continued, signal).catch((error: unknown) => {
      // The server can be reached and says that the events are gone, or the next attempt may reach it.
      if (signal.aborted || (error instanceof ApiError && error.status !== 0)) throw error
      return new Response(null)
    })
  }
  throw lostConnection()
}

function startRequest({ tool, body, idempotencyKey, dialect }: CallRequest): Request {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey
  const url = `${BOARD_PATH}/v1/calls?from=plain&as=${encodeURIComponent(dialect)}`
  return new Request(url, { method: 'POST', headers, body: `{"name":${JSON.stringify(tool)},"arguments":${body}}` })
}

async function connect(request: Request, signal: AbortSignal): Promise<Response> {
  request.headers.set('Accept', 'text/event-stream')
  const response = await fetch(request, { signal, credentials: 'same-origin' }).catch((error: unknown) => {
    if (signal.aborted) throw error
    throw lostConnection()
  })
  if (response.status === 401) endSession()
  const type = response.headers.get('Content-Type') ?? ''
  if (response.ok && type.startsWith('text/event-stream')) return response
  throw readProblem(response, readJson(await response.text()))
}

function lostConnection(): ApiError {
  const detail = 'The connection broke before there was an answer; the journal says whether the call ran'
  return new ApiError(0, { detail })
}

/** Return the JSON of a response, or undefined if it is none, such as the page of a proxy. */
function readJson(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}
