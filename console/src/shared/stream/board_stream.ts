import { readProblem } from '../api/api_error.ts'
import { BOARD_PATH } from '../api/base_path.ts'
import { compareBuild } from '../api/build_state.ts'
import { endSession, waitForSession } from '../session/session_state.ts'
import type { StreamEvent } from './event_parser.ts'
import { choosePause, wait } from './pause.ts'
import { readEvents, refuseStall, StreamStalled } from './read_events.ts'

/**
 * `offline`: the server cannot be reached, or refuses the stream, since a time; or `isHeldBack`: it accepts the
 * stream, and nothing of it arrives.
 */
export type ConnectionState =
  | { phase: 'connecting' }
  | { phase: 'open' }
  | { phase: 'offline'; since: string; isHeldBack: boolean }
type Message = { event: StreamEvent } | { state: ConnectionState } | { id: string }
type Listener = (event: StreamEvent) => void

// Sent if events may have been missed.
const GAP: StreamEvent = { id: '', name: 'gap', data: '{"missed":null}' }
// The first failure is often the end of a stream, after which the next attempt succeeds.
const FAILURES_TO_REPORT = 2

/**
 * A stream of the board that goes on after a break where it was. Of all tabs of a browser, one that is visible has
 * the connection, and passes the events on.
 */
export class BoardStream {
  #listeners = new Set<Listener>()
  #watchers = new Set<() => void>()
  #state: ConnectionState = { phase: 'connecting' }
  #lastId: string | undefined
  #running: AbortController | undefined
  #channel: BroadcastChannel | undefined

  #wasStopped = false
  readonly path: string
  readonly #hasHistory: boolean

  /** `hasHistory`: the server keeps what happens while no client is connected. */
  constructor(path: string, hasHistory: boolean) {
    this.path = path
    this.#hasHistory = hasHistory
    document.addEventListener('visibilitychange', this.#update)
  }

  /** Call `listener` for each event until the returned function is called. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.#update()
    return () => {
      this.#listeners.delete(listener)
      this.#update()
    }
  }

  watchState = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  getState = (): ConnectionState => this.#state

  #update = () => {
    const isUsed = this.#listeners.size > 0
    if (isUsed && !this.#channel && typeof BroadcastChannel !== 'undefined') {
      this.#channel = new BroadcastChannel(`pegboard${this.path}`)
      this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#receive(data)
    }
    if (!isUsed) {
      this.#channel?.close()
      this.#channel = undefined
      this.#lastId = undefined
      this.#wasStopped = false
    }
    const isWanted = isUsed && document.visibilityState === 'visible'
    if (isWanted && !this.#running) void this.#start()
    if (!isWanted) {
      if (isUsed && this.#running) this.#wasStopped = true
      this.#running?.abort()
      this.#running = undefined
    }
  }

  async #start(): Promise<void> {
    const controller = new AbortController()
    this.#running = controller
    const { signal } = controller
    try {
      if (navigator.locks && this.#channel) {
        const name = `pegboard${this.path}`
        // No lock: another tab has the connection, and events are missed between its end and the next connection.
        const isFirst = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
          if (lock) await this.#connect(signal, false)
          return lock !== null
        })
        if (!isFirst) await navigator.locks.request(name, { signal }, () => this.#connect(signal, true))
      } else await this.#connect(signal, false)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async #connect(signal: AbortSignal, isTakenOver: boolean): Promise<void> {
    let failures = 0
    let isContinued = this.#wasStopped || isTakenOver
    this.#wasStopped = false
    while (!signal.aborted) {
      let isHeldBack = false
      const attempt = new AbortController()
      try {
        const after = this.#lastId === undefined ? '' : `?last_event_id=${encodeURIComponent(this.#lastId)}`
        const headers = { Accept: 'text/event-stream' }
        const request = fetch(`${BOARD_PATH}${this.path}${after}`, {
          headers,
          signal: AbortSignal.any([signal, attempt.signal]),
          credentials: 'same-origin',
        })
        const response = await refuseStall(request)
        if (response.status === 401) {
          endSession()
          await waitForSession(signal)
          continue
        }
        if (!response.ok) throw readProblem(response, undefined)
        compareBuild(response.headers.get('X-Console-Build'))
        const notePiece = (id: string) => {
          failures = 0
          if (this.#state.phase !== 'open') this.#send({ state: { phase: 'open' } })
          if (isContinued && !this.#hasHistory) this.#send({ event: GAP })
          isContinued = false
          if (id !== '') this.#send({ id })
        }
        for await (const event of readEvents(response, notePiece)) this.#send({ event })
      } catch (error) {
        // The next attempt shows whether another failure lasts.
        isHeldBack = error instanceof StreamStalled
      } finally {
        attempt.abort()
      }
      if (signal.aborted) return
      failures += 1
      isContinued = true
      if (isHeldBack || failures >= FAILURES_TO_REPORT) this.#reportOffline(isHeldBack)
      await wait(choosePause(failures), signal)
    }
  }

  #reportOffline(isHeldBack: boolean): void {
    const before = this.#state.phase === 'offline' ? this.#state : undefined
    if (before?.isHeldBack === isHeldBack) return
    const since = before?.since ?? new Date().toISOString()
    this.#send({ state: { phase: 'offline', since, isHeldBack } })
  }

  #send(message: Message): void {
    this.#receive(message)
    this.#channel?.postMessage(message)
  }

  #receive(message: Message): void {
    if ('state' in message) {
      this.#state = message.state
      for (const watcher of this.#watchers) watcher()
      return
    }
    if ('id' in message) {
      this.#lastId = message.id
      return
    }
    for (const listener of this.#listeners) listener(message.event)
  }
}

/** What changes in the registry. */
export const changeStream = new BoardStream('/v1/changes/stream', true)

/** Calls as they start, progress and end. The server forgets those that no client watches. */
export const callStream = new BoardStream('/v1/executions/stream', false)
