import { useSyncExternalStore } from 'react'

let own: string | undefined
let isOld = false
const listeners = new Set<() => void>()

/** Compare the build of a response with that of the first one, which came with this page. */
export function compareBuild(build: string | null): void {
  if (build === null) return
  own ??= build
  if (isOld || build === own) return
  isOld = true
  for (const listener of listeners) listener()
}

/** Return whether the server has a newer console than this page. */
export function useIsOldBuild(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isOld,
  )
}
