import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, readProblem } from '../../../shared/api/api_error.ts'
import { BOARD_PATH } from '../../../shared/api/base_path.ts'
import type { Schemas } from '../../../shared/api/client.ts'
import { parseExactly } from '../../../shared/json/exact_json.ts'
import { queryClient } from '../../../shared/query/query_client.ts'
import { endSession } from '../../../shared/session/session_state.ts'

export type CallState =
  | { phase: 'idle' }
  | { phase: 'running'; startedAt: number }
  | { phase: 'ended'; raw: string; answer: Schemas['PlainResult'] }
  | { phase: 'failed'; error: Error }
  | { phase: 'cancelled' }

export interface CallRequest {
  tool: string
  /** JSON text, sent as it is, so that every digit arrives. */
  body: string
  idempotencyKey?: string
}

/** Runs one call at a time; the arguments and the response are exchanged as text. */
export function useCall() {
  const [state, setState] = useState<CallState>({ phase: 'idle' })
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])

  const cancel = useCallback(() => running.current?.abort(), [])
  const run = useCallback(async (request: CallRequest) => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setState({ phase: 'running', startedAt: performance.now() })
    const next = await send(request, controller.signal)
    if (running.current !== controller) return
    setState(next)
    void queryClient.invalidateQueries({ queryKey: ['execution-list'] })
    void queryClient.invalidateQueries({ queryKey: ['recent-arguments'] })
    void queryClient.invalidateQueries({ queryKey: ['activity'] })
  }, [])
  return { state, run, cancel }
}

async function send({ tool, body, idempotencyKey }: CallRequest, signal: AbortSignal): Promise<CallState> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey
  try {
    const url = `${BOARD_PATH}/v1/tools/${encodeURIComponent(tool)}/call?as=plain`
    const response = await fetch(url, { method: 'POST', headers, body, signal, credentials: 'same-origin' })
    const raw = await response.text()
    if (response.status === 401) endSession()
    const answer = readAnswer(raw)
    if (!isResult(answer)) return { phase: 'failed', error: readProblem(response, answer) }
    return { phase: 'ended', raw, answer }
  } catch (error) {
    if (signal.aborted) return { phase: 'cancelled' }
    const detail = 'The connection broke before there was an answer; the journal says whether the call ran'
    return { phase: 'failed', error: error instanceof ApiError ? error : new ApiError(0, { detail }) }
  }
}

/** Return the JSON of a response, or undefined if it is none, such as the page of a proxy. */
function readAnswer(raw: string): unknown {
  try {
    return parseExactly(raw)
  } catch {
    return undefined
  }
}

function isResult(answer: unknown): answer is Schemas['PlainResult'] {
  return typeof answer === 'object' && answer !== null && 'success' in answer
}
