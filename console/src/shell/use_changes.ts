import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { changeStream } from '../shared/stream/board_stream.ts'
import { useStream, useStreamState } from '../shared/stream/use_stream.ts'

// Many changes arrive together, such as those of an import.
const COLLECT_MS = 300
// Lists move rows, so they offer new ones behind a button.
const LISTS = ['tool-list', 'execution-list']
const KEYS: Record<string, string[]> = {
  tool: [
    'agent',
    'tool',
    'upstreams',
    'upstream-list',
    'upstream',
    'import-documents',
    'drifted-tools',
    'activity',
    'search',
    'secrets',
  ],
  upstream: ['upstreams', 'upstream-list', 'upstream'],
  user: ['me', 'keys', 'users'],
  key: ['keys', 'sessions'],
  session: ['sessions'],
  secret: ['secrets'],
  agent: ['agent', 'agents'],
}

/** Load again what the server says has changed, and everything but lists after a break. */
export function useChanges(): void {
  const queryClient = useQueryClient()
  const changed = useRef(new Set<string>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const reload = (keys: string[]) => {
    for (const key of keys) changed.current.add(key)
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      const wanted = changed.current
      changed.current = new Set()
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => wanted.has(String(queryKey[0])) })
    }, COLLECT_MS)
  }
  useStream(changeStream, ({ name, data }) => {
    if (name === 'gap') reload(Object.values(KEYS).flat())
    if (name === 'change') reload(KEYS[(JSON.parse(data) as { kind: string }).kind] ?? [])
  })
  const { phase } = useStreamState(changeStream)
  const wasOffline = useRef(false)
  useEffect(() => {
    if (phase === 'open' && wasOffline.current) {
      void queryClient.invalidateQueries({
        predicate: ({ queryKey, state }) => state.data === undefined || !LISTS.includes(String(queryKey[0])),
      })
    }
    wasOffline.current = phase === 'offline'
  }, [phase, queryClient])
}
