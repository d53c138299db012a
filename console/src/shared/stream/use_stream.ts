import { useEffect, useRef, useSyncExternalStore } from 'react'
import type { BoardStream, ConnectionState } from './board_stream.ts'
import type { StreamEvent } from './event_parser.ts'

/** Call `listener` for each event of a stream while the component is shown. */
export function useStream(stream: BoardStream, listener: (event: StreamEvent) => void): void {
  const current = useRef(listener)
  current.current = listener
  useEffect(() => stream.subscribe((event) => current.current(event)), [stream])
}

/** Return whether a stream is connected. */
export function useStreamState(stream: BoardStream): ConnectionState {
  return useSyncExternalStore(stream.watchState, stream.getState)
}
