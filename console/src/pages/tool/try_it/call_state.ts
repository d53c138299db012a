import type { Schemas } from '../../../shared/api/client.ts'
import { parseExactly } from '../../../shared/json/exact_json.ts'
import type { StreamEvent } from '../../../shared/stream/event_parser.ts'

/** What the tool reported last, and the output that it has sent so far. */
export interface CallProgress {
  progress?: number
  total?: number
  message?: string
  partial: string
  /** How many characters of the output were dropped at its beginning. */
  dropped: number
}

/** How a call ended; `answer` is what a model would get in the chosen dialect. */
export interface CallEnd {
  run: string
  elapsed: number
  code?: string
  error?: string
  result: unknown
  display?: string
  answer: unknown
  raw: string
}

export type CallState =
  | { phase: 'idle' }
  | { phase: 'running'; startedAt: number; stream?: string; isCancelling?: boolean; reported?: CallProgress }
  | { phase: 'ended'; end: CallEnd }
  | { phase: 'failed'; error: Error }

const MAX_PARTIAL = 100_000

interface ProgressData {
  progress?: number
  total?: number
  message?: string
  partial?: unknown
}

interface ResultData {
  run_id: string
  execution_time_ms: number
  code?: string
  error?: string
  result?: unknown
  display?: string
}

/** Return the progress after an event `tool_progress`. */
export function addProgress(before: CallProgress | undefined, { data }: StreamEvent): CallProgress {
  const { partial, ...reported } = JSON.parse(data) as ProgressData
  const piece = partial === undefined ? '' : typeof partial === 'string' ? partial : `${JSON.stringify(partial)}\n`
  const text = (before?.partial ?? '') + piece
  const cut = Math.max(0, text.length - MAX_PARTIAL)
  return { ...before, ...reported, partial: text.slice(cut), dropped: (before?.dropped ?? 0) + cut }
}

/** Return how a call ended, from its event `tool_result` and the last event. */
export function readEnd(result: StreamEvent, complete: StreamEvent): CallEnd {
  const { run_id, execution_time_ms, ...rest } = parseExactly(result.data) as ResultData
  const { answer } = parseExactly(complete.data) as { answer?: unknown }
  return {
    run: run_id,
    elapsed: Number(execution_time_ms),
    code: rest.code,
    error: rest.error,
    result: rest.result,
    display: rest.display,
    answer,
    raw: complete.data,
  }
}

/** Return the answer of the plain dialect, which names the fields of errors; undefined for another dialect. */
export function plainAnswer(state: CallState): Schemas['PlainResult'] | undefined {
  const answer = state.phase === 'ended' ? state.end.answer : undefined
  return typeof answer === 'object' && answer !== null && 'success' in answer && 'execution_time_ms' in answer
    ? (answer as Schemas['PlainResult'])
    : undefined
}
