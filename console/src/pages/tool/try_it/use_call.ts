import { notifications } from '@mantine/notifications'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError } from '../../../shared/api/api_error.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { queryClient } from '../../../shared/query/query_client.ts'
import type { StreamEvent } from '../../../shared/stream/event_parser.ts'
import { addProgress, type CallState, readEnd } from './call_state.ts'
import { type CallRequest, sendCall } from './send_call.ts'

// The call may end by itself before the request arrives.
const HAS_ENDED = [404, 409]

/** Runs one call at a time, and cancels it on the server. */
export function useCall() {
  const [state, setState] = useState<CallState>({ phase: 'idle' })
  const running = useRef<AbortController>(null)
  const stream = useRef<string>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const run = useCallback(async (request: CallRequest) => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    stream.current = undefined
    const change = (next: (state: CallState) => CallState) => {
      if (running.current === controller) setState(next)
    }
    setState({ phase: 'running', startedAt: performance.now() })
    let result: StreamEvent | undefined
    const take = (event: StreamEvent) => {
      if (event.name === 'tool_progress') {
        change((now) => (now.phase === 'running' ? { ...now, reported: addProgress(now.reported, event) } : now))
      }
      if (event.name === 'tool_result') result = event
      if (event.name === 'complete' && result) {
        const end = readEnd(result, event)
        change(() => ({ phase: 'ended', end }))
      }
      if (event.name === 'error') {
        const { message } = JSON.parse(event.data) as { message: string }
        change(() => ({ phase: 'failed', error: new ApiError(503, { title: 'The board stopped', detail: message }) }))
      }
    }
    const start = (id: string) => {
      stream.current = id
      change((now) => (now.phase === 'running' ? { ...now, stream: id } : now))
    }
    try {
      await sendCall(request, controller.signal, start, take)
    } catch (error) {
      if (!controller.signal.aborted) change(() => ({ phase: 'failed', error: error as Error }))
    }
    void queryClient.invalidateQueries({ queryKey: ['execution-list'] })
    void queryClient.invalidateQueries({ queryKey: ['recent-arguments'] })
    void queryClient.invalidateQueries({ queryKey: ['activity'] })
  }, [])

  const cancel = useCallback(async () => {
    const id = stream.current
    if (id === undefined) return
    setState((now) => (now.phase === 'running' ? { ...now, isCancelling: true } : now))
    try {
      await unwrap(api.DELETE('/v1/calls/{run}', { params: { path: { run: id } } }))
    } catch (error) {
      if (error instanceof ApiError && HAS_ENDED.includes(error.status)) return
      setState((now) => (now.phase === 'running' ? { ...now, isCancelling: false } : now))
      notifications.show({ color: 'red', title: 'Not cancelled', message: String((error as Error).message) })
    }
  }, [])
  return { state, run, cancel }
}
