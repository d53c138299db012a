import { useSyncExternalStore } from 'react'

/** Whether requests are refused because the session ended; the page stays, and asks to log in. */
let hasEnded = false
const listeners = new Set<() => void>()
const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('pegboard-session')

function setEnded(value: boolean): void {
  if (hasEnded === value) return
  hasEnded = value
  for (const listener of listeners) listener()
}

/** Ask for a log-in in place, because a request was refused. */
export function endSession(): void {
  setEnded(true)
}

/** Continue after a log-in, in every tab. */
export function startSession(): void {
  setEnded(false)
  channel?.postMessage('started')
}

/** Tell every other tab that the person logged out. */
export function announceLogout(): void {
  channel?.postMessage('logout')
}

/** Call `listener` when another tab logs in or out. */
export function listenToTabs(listener: (event: 'started' | 'logout') => void): () => void {
  const receive = (event: MessageEvent) => {
    if (event.data === 'started') setEnded(false)
    if (event.data === 'started' || event.data === 'logout') listener(event.data)
  }
  channel?.addEventListener('message', receive)
  return () => channel?.removeEventListener('message', receive)
}

/** Wait until the person has logged in again, or the signal is aborted. */
export function waitForSession(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (hasEnded && !signal.aborted) return
      listeners.delete(check)
      signal.removeEventListener('abort', check)
      resolve()
    }
    listeners.add(check)
    signal.addEventListener('abort', check)
    check()
  })
}

/** Return whether the session ended while the page was open. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => hasEnded,
  )
}
