import { type ReactNode, useEffect, useState } from 'react'

const DELAY_MS = 150

/** Shows an outline only if loading takes longer than 150 ms, so that fast pages do not flicker. */
export function Delayed({ children }: { children: ReactNode }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), DELAY_MS)
    return () => clearTimeout(timer)
  }, [])
  return isShown ? children : null
}
