/** One server-sent event; its data is JSON text. */
export interface StreamEvent {
  id: string
  name: string
  data: string
}

/** Reads server-sent events from the pieces of a response. */
export class EventParser {
  #rest = ''
  #id = ''
  #name = ''
  #data: string[] = []

  /** The id to continue after; the server also sends one before its first event. */
  get lastId(): string {
    return this.#id
  }

  /** Return the events that this piece completes. */
  push(piece: string): StreamEvent[] {
    const lines = (this.#rest + piece).split('\n')
    this.#rest = lines.pop() ?? ''
    return lines.flatMap((line) => this.#read(line.endsWith('\r') ? line.slice(0, -1) : line))
  }

  #read(line: string): StreamEvent[] {
    if (line === '') return this.#take()
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') this.#id = value
    if (field === 'event') this.#name = value
    if (field === 'data') this.#data.push(value)
    return []
  }

  #take(): StreamEvent[] {
    const event = { id: this.#id, name: this.#name || 'message', data: this.#data.join('\n') }
    const isEmpty = this.#data.length === 0
    this.#name = ''
    this.#data = []
    return isEmpty ? [] : [event]
  }
}
