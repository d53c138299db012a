import type { Schemas } from '../../shared/api/client.ts'
import type { StreamEvent } from '../../shared/stream/event_parser.ts'

export type RunningCall = Pick<
  Schemas['RunningCallResponse'],
  'run_id' | 'tool_name' | 'caller' | 'surface' | 'started_at' | 'progress' | 'total'
>
export type EndedCall = Schemas['ExecutionResponse']
export type Status = EndedCall['status']

/** The calls that ended in one span of `BUCKET_MS`. */
export interface Bucket {
  start: number
  counts: Record<Status, number>
}

export interface LiveState {
  running: Map<string, RunningCall>
  /** The calls that ended last, newest first. */
  ended: EndedCall[]
  /** Oldest first. */
  buckets: Bucket[]
  /** Whether the server left out events, and how many as far as it knows. */
  missed: number
  hasGap: boolean
}

export const BUCKET_MS = 5_000
const MAX_BUCKETS = 60
const MAX_ENDED = 200
const MAX_RUNNING = 2_000

export function emptyState(): LiveState {
  return { running: new Map(), ended: [], buckets: [], missed: 0, hasGap: false }
}

/** Return the state after these events, which arrived at `now`. */
export function applyEvents(state: LiveState, events: StreamEvent[], now: number): LiveState {
  const running = new Map(state.running)
  const fresh: EndedCall[] = []
  let { missed, hasGap } = state
  for (const { name, data } of events) {
    if (name === 'started') {
      const call = JSON.parse(data) as RunningCall
      if (running.size < MAX_RUNNING) running.set(call.run_id, call)
    } else if (name === 'progress') {
      const { run_id, progress, total } = JSON.parse(data) as RunningCall
      const call = running.get(run_id)
      if (call) running.set(run_id, { ...call, progress, total })
    } else if (name === 'finished') {
      const call = JSON.parse(data) as EndedCall
      running.delete(call.id)
      fresh.push(call)
    } else if (name === 'gap') {
      hasGap = true
      missed += (JSON.parse(data) as { missed: number | null }).missed ?? 0
    }
  }
  const ended = [...fresh.reverse(), ...state.ended].slice(0, MAX_ENDED)
  return { running, ended, buckets: countCalls(state.buckets, fresh, now), missed, hasGap }
}

/** Return the state with what the server says is running, and calls that started after it was asked. */
export function setRunning(state: LiveState, items: RunningCall[], requestedAt: number): LiveState {
  const hasEnded = new Set(state.ended.map((call) => call.id))
  const later = [...state.running.values()].filter((call) => Date.parse(call.started_at) >= requestedAt)
  const all = [...items.filter((call) => !hasEnded.has(call.run_id)), ...later]
  return { ...state, running: new Map(all.map((call) => [call.run_id, call])) }
}

/** Return how many calls ended since a time, by status. */
export function sumCalls(buckets: Bucket[], since: number): Record<Status, number> {
  const sum = emptyCounts()
  for (const { start, counts } of buckets) {
    if (start >= since) for (const status of Object.keys(counts) as Status[]) sum[status] += counts[status]
  }
  return sum
}

/** Return the calls of each span up to `now`, also of those without any. */
export function listRates(buckets: Bucket[], now: number): number[] {
  const last = Math.floor(now / BUCKET_MS)
  const byStart = new Map(buckets.map(({ start, counts }) => [start / BUCKET_MS, sumOf(counts)]))
  return Array.from({ length: MAX_BUCKETS }, (_, index) => byStart.get(last - MAX_BUCKETS + 1 + index) ?? 0)
}

function countCalls(buckets: Bucket[], fresh: EndedCall[], now: number): Bucket[] {
  if (fresh.length === 0) return buckets
  const start = Math.floor(now / BUCKET_MS) * BUCKET_MS
  const last = buckets.at(-1)
  const counts = last?.start === start ? { ...last.counts } : emptyCounts()
  for (const { status } of fresh) counts[status] += 1
  const before = last?.start === start ? buckets.slice(0, -1) : buckets
  return [...before, { start, counts }].slice(-MAX_BUCKETS)
}

function emptyCounts(): Record<Status, number> {
  return { succeeded: 0, failed: 0, refused: 0, in_doubt: 0 }
}

function sumOf(counts: Record<Status, number>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0)
}
