import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ImportReport } from './report_rows.ts'
import { type ImportProgress, type ImportRequest, sendImport } from './send_import.ts'

export type ImportState =
  | { phase: 'idle' }
  | { phase: 'running'; isDryRun: boolean; progress?: ImportProgress }
  | { phase: 'checked' | 'imported'; request: ImportRequest; report: ImportReport }
  | { phase: 'failed'; isDryRun: boolean; error: Error; request: ImportRequest }

const CHANGED = ['tool-list', 'upstream-list', 'upstreams', 'import-documents', 'drifted-tools', 'search']

/** Checks what an import would do, and runs it; one at a time. */
export function useImport() {
  const [state, setState] = useState<ImportState>({ phase: 'idle' })
  const running = useRef<AbortController>(null)
  const queryClient = useQueryClient()
  useEffect(() => () => running.current?.abort(), [])

  const run = useCallback(
    async (request: ImportRequest, isDryRun: boolean) => {
      running.current?.abort()
      const controller = new AbortController()
      running.current = controller
      const change = (next: ImportState) => {
        if (running.current === controller) setState(next)
      }
      change({ phase: 'running', isDryRun })
      try {
        const report = await sendImport(request, isDryRun, controller.signal, (progress) =>
          change({ phase: 'running', isDryRun, progress }),
        )
        change({ phase: isDryRun ? 'checked' : 'imported', request, report })
      } catch (error) {
        if (!controller.signal.aborted) change({ phase: 'failed', isDryRun, error: error as Error, request })
      }
      if (!isDryRun) {
        void queryClient.invalidateQueries({ predicate: ({ queryKey }) => CHANGED.includes(String(queryKey[0])) })
      }
    },
    [queryClient],
  )
  const cancel = useCallback(() => {
    running.current?.abort()
    running.current = null
    setState({ phase: 'idle' })
  }, [])
  return { state, run, cancel }
}
