import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Finding, verificationQuery, verifyRows } from './verification_query.ts'

export interface Verification {
  phase: 'running' | 'done' | 'cancelled' | 'failed'
  checked: number
  /** About how many rows there are. */
  total: number | undefined
  findings: Finding[]
  notes: string[]
  error?: unknown
}

const START: Verification = { phase: 'running', checked: 0, total: undefined, findings: [], notes: [] }

/** Verify the whole journal, a part after the other, until it is cancelled or the page is left. */
export function useVerification() {
  const queryClient = useQueryClient()
  const [state, setState] = useState<Verification>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const start = async () => {
    const controller = new AbortController()
    running.current = controller
    let now = START
    setState(now)
    try {
      let next: Parameters<typeof verifyRows>[0] = null
      do {
        const report = await verifyRows(next, controller.signal)
        next = report.next
        now = {
          ...now,
          checked: now.checked + report.checked,
          total: now.total ?? report.total ?? undefined,
          findings: [...now.findings, ...report.findings],
          notes: [...now.notes, ...report.notes],
        }
        setState(now)
      } while (next !== null)
      setState({ ...now, phase: 'done' })
      await queryClient.invalidateQueries({ queryKey: verificationQuery.queryKey })
    } catch (error) {
      setState(controller.signal.aborted ? { ...now, phase: 'cancelled' } : { ...now, phase: 'failed', error })
    }
  }
  return { state, start: () => void start(), cancel: () => running.current?.abort() }
}
