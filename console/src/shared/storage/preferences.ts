import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
const values = new Map<string, string>()

/** Return a preference; where storage is forbidden, the one of this tab. */
export function readPreference(name: string, fallback: string): string {
  try {
    return localStorage.getItem(`pegboard-${name}`) ?? values.get(name) ?? fallback
  } catch {
    return values.get(name) ?? fallback
  }
}

/** Store a preference. Nothing else is ever stored: no key, no argument, no result. */
export function storePreference(name: string, value: string): void {
  values.set(name, value)
  try {
    localStorage.setItem(`pegboard-${name}`, value)
  } catch {
    // Storage is forbidden: the value is kept for this tab.
  }
  for (const listener of listeners) listener()
}

/** Return a preference and the function that changes it. */
export function usePreference(name: string, fallback: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => readPreference(name, fallback),
  )
  return [value, (next) => storePreference(name, next)]
}
