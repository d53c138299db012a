import { EventParser, type StreamEvent } from './event_parser.ts'

// The server sends a comment every 15 seconds.
const STALL_MS = 40_000

/**
 * Yield the events of a response as they arrive; throw if the server sends nothing for too long. `onId` gets the id
 * after which the stream can be continued.
 */
export async function* readEvents(
  response: Response,
  onId: (id: string) => void = () => undefined,
): AsyncGenerator<StreamEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  const parser = new EventParser()
  try {
    while (true) {
      const { value, done } = await withDeadline(reader.read(), STALL_MS)
      if (done) return
      const events = parser.push(value)
      if (parser.lastId !== '') onId(parser.lastId)
      yield* events
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

function withDeadline<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The stream stalled; a proxy may hold it back')), milliseconds)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
