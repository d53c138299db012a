import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useRef } from 'react'
import { type Draft, declaredPart, readChanges, type Tool } from './draft.ts'
import type { Declared } from './model_query.ts'

const PAUSE_MS = 300

/** Return what is declared: the saved version, or what is typed after a pause; of a text with a fault, what was valid before. */
export function useDeclared(tool: Tool, draft: Draft | undefined): { declared: Declared; isDraft: boolean } {
  const [typed] = useDebouncedValue(draft, PAUSE_MS)
  const valid = useRef<Declared>(undefined)
  const declared = useMemo<Declared>(() => {
    const saved = { id: tool.id, version: tool.version }
    if (!draft || !typed) return saved
    const { changes, fault } = readChanges(typed)
    if (fault !== undefined) return valid.current ?? saved
    return Object.keys(changes).length === 0 ? saved : { draft: JSON.stringify(declaredPart(typed.base, changes)) }
  }, [tool.id, tool.version, draft, typed])
  valid.current = declared
  return { declared, isDraft: 'draft' in declared }
}
