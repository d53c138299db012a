import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, unwrap } from '../../shared/api/client.ts'
import { callStream } from '../../shared/stream/board_stream.ts'
import type { StreamEvent } from '../../shared/stream/event_parser.ts'
import { useStream } from '../../shared/stream/use_stream.ts'
import { applyEvents, emptyState, type LiveState, setRunning } from './live_state.ts'

// A thousand calls a second are shown in four steps a second.
const STEP_MS = 250
const CHECK_MS = 5_000

/** Return the calls that run and those that ended last; while `isHeld`, the same as before. */
export function useLiveCalls(isHeld: boolean): { shown: LiveState; now: number } {
  const latest = useRef(emptyState())
  const waiting = useRef<StreamEvent[]>([])
  const [shown, setShown] = useState(latest.current)
  const [now, setNow] = useState(() => Date.now())
  useStream(callStream, (event) => waiting.current.push(event))
  const calls = useQuery({
    queryKey: ['running-calls'],
    queryFn: async ({ signal }) => {
      const requestedAt = Date.now()
      const { items } = await unwrap(api.GET('/v1/calls', { params: { query: { limit: 200 } }, signal }))
      return { items, requestedAt }
    },
    refetchInterval: CHECK_MS,
    gcTime: 0,
  }).data
  useEffect(() => {
    if (calls) latest.current = setRunning(latest.current, calls.items, calls.requestedAt)
  }, [calls])
  useEffect(() => {
    const step = () => {
      const time = Date.now()
      const events = waiting.current
      waiting.current = []
      if (events.length > 0) latest.current = applyEvents(latest.current, events, time)
      if (isHeld) return
      setShown(latest.current)
      setNow(time)
    }
    const timer = setInterval(step, STEP_MS)
    return () => clearInterval(timer)
  }, [isHeld])
  return { shown, now }
}
