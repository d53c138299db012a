import { EventParser, type StreamEvent } from './event_parser.ts'

// The server sends a comment every 15 seconds.
const STALL_MS = 40_000

/** A stream of which nothing arrives, although the server sends something several times a minute. */
export class StreamStalled extends Error {}

/**
 * Yield the events of a response as they arrive; throw StreamStalled if nothing arrives for too long. `onPiece` is
 * called for each piece that arrives, with the id after which the stream can be continued, if there was one.
 */
export async function* readEvents(
  response: Response,
  onPiece: (id: string) => void = () => undefined,
): AsyncGenerator<StreamEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  const parser = new EventParser()
  try {
    while (true) {
      const { value, done } = await refuseStall(reader.read())
      if (done) return
      const events = parser.push(value)
      onPiece(parser.lastId)
      yield* events
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

/** Return what a promise returns; throw StreamStalled if that takes too long. */
export function refuseStall<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StreamStalled('The stream stalled')), STALL_MS)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
