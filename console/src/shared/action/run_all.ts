/** The outcome for one item; without an error, it succeeded. */
export interface Outcome<Item> {
  item: Item
  error: Error | undefined
}

interface RunAllOptions {
  /** How many requests run at the same time. */
  atOnce?: number
  /** No request begins after it is aborted. */
  signal?: AbortSignal
  onProgress?: (done: number) => void
}

/** Run a request for each item, a few at a time; an error of one does not stop the others. */
export async function runAll<Item>(
  items: readonly Item[],
  run: (item: Item) => Promise<unknown>,
  { atOnce = 4, signal, onProgress }: RunAllOptions = {},
): Promise<Outcome<Item>[]> {
  const outcomes: Outcome<Item>[] = []
  let next = 0
  const work = async () => {
    while (next < items.length && !signal?.aborted) {
      const item = items[next++] as Item
      let error: Error | undefined
      try {
        await run(item)
      } catch (reason) {
        error = reason instanceof Error ? reason : new Error(String(reason))
      }
      outcomes.push({ item, error })
      onProgress?.(outcomes.length)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  return outcomes
}
