const FIRST_MS = 500
const LONGEST_MS = 10_000

/** Return how long to wait before the next attempt; apart from each other, so that clients do not return together. */
export function choosePause(failures: number, random = Math.random()): number {
  return Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_MS) * (0.75 + random / 2)
}

/** Wait, at most until the signal is aborted. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}
