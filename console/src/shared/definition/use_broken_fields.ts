import { useCallback, useState } from 'react'

/** Whether the text of some field is broken, and how fields report it. */
export function useBrokenFields(): [boolean, (id: string, isBroken: boolean) => void] {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const report = useCallback((id: string, isBroken: boolean) => {
    setIds((before) => {
      if (before.has(id) === isBroken) return before
      const after = new Set(before)
      if (isBroken) after.add(id)
      else after.delete(id)
      return after
    })
  }, [])
  return [ids.size > 0, report]
}
