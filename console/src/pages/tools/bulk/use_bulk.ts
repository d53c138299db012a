import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { offerUndo } from '../../../shared/action/offer_undo.tsx'
import { type Outcome, runAll } from '../../../shared/action/run_all.ts'
import { reloadQueries } from '../../../shared/query/reload_queries.ts'
import type { Tool } from './bulk_requests.ts'

export interface BulkAction {
  /** What it does in the past tense, such as `Deleted`. */
  done: string
  run: (tool: Tool) => Promise<unknown>
  /** Reverses it for one tool. */
  undo?: (tool: Tool) => Promise<unknown>
  /** Runs once, with the tools for which it succeeded. */
  finish?: (tools: Tool[]) => void
}

export interface BulkResult {
  done: string
  succeeded: number
  failed: Outcome<Tool>[]
  /** How many were not begun, because the person stopped it. */
  left: number
}

/** Runs an action for many tools, shows the outcome of each, and offers to undo it. */
export function useBulk(onSucceeded: (tools: Tool[]) => void) {
  const queryClient = useQueryClient()
  const [progress, setProgress] = useState<{ done: number; of: number }>()
  const [result, setResult] = useState<BulkResult>()
  const stopper = useRef<AbortController>(undefined)
  const refresh = useCallback(async () => {
    await reloadQueries(queryClient, [['tool-list'], ['tool'], ['agents']])
  }, [queryClient])

  const run = async (action: BulkAction, tools: readonly Tool[]) => {
    const controller = new AbortController()
    stopper.current = controller
    setResult(undefined)
    setProgress({ done: 0, of: tools.length })
    const outcomes = await runAll(tools, action.run, {
      signal: controller.signal,
      onProgress: (done) => setProgress({ done, of: tools.length }),
    })
    setProgress(undefined)
    const succeeded = outcomes.flatMap(({ item, error }) => (error ? [] : [item]))
    const failed = outcomes.filter(({ error }) => error !== undefined)
    const left = tools.length - outcomes.length
    if (failed.length > 0 || left > 0) {
      setResult({ done: action.done, succeeded: succeeded.length, failed, left })
    }
    if (succeeded.length > 0) {
      action.finish?.(tools.filter((tool) => succeeded.includes(tool)))
      const message = `${action.done} ${countTools(succeeded.length)}`
      const { undo } = action
      if (undo) {
        const undoAll = async () => {
          const undone = await runAll(succeeded, undo)
          await refresh()
          const broken = undone.filter(({ error }) => error !== undefined)
          if (broken.length > 0)
            setResult({ done: 'Undone for', succeeded: undone.length - broken.length, failed: broken, left: 0 })
        }
        offerUndo({ message, undo: undoAll, undone: `Undone: ${message.toLowerCase()}` })
      } else if (failed.length === 0) notifications.show({ message })
      onSucceeded(succeeded)
    }
    await refresh()
  }
  return { run, progress, result, stop: () => stopper.current?.abort(), close: () => setResult(undefined) }
}

export function countTools(count: number): string {
  return count === 1 ? '1 tool' : `${count.toLocaleString('en')} tools`
}
