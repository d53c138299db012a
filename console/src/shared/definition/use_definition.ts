import { useCallback, useMemo, useRef, useState } from 'react'
import { type Definition, isSame } from './definition_values.ts'
import { parseYaml, updateYaml, writeYaml } from './definition_yaml.ts'

/** A definition as it is saved; version 0 is not saved yet. */
export interface SavedDefinition {
  version: number
  definition: Definition
}

interface Draft {
  text: string
  /** What the text is a change of. */
  base: SavedDefinition
}

// What was typed and not saved, until the page is loaded again; nothing of it is stored in the browser.
const drafts = new Map<string, Draft>()

/** A definition: one text of YAML, which form and editor both change. `key` names it among the unsaved ones. */
export function useDefinition(key: string, saved: SavedDefinition) {
  const [draft, show] = useState<Draft>(() => drafts.get(key) ?? { base: saved, text: writeYaml(saved.definition) })
  const latest = useRef(draft)
  const update = useCallback(
    (next: Draft, isSaved: boolean) => {
      latest.current = next
      if (isSaved) drafts.delete(key)
      else drafts.set(key, next)
      show(next)
    },
    [key],
  )
  const setText = useCallback((text: string) => update({ ...latest.current, text }, false), [update])
  const change = useCallback(
    (make: (value: Definition) => Definition) => {
      const { text, base } = latest.current
      const before = parseYaml(text).value
      if (before === undefined) return
      const after = make(before)
      if (!isSame(before, after)) update({ base, text: updateYaml(text, after) }, false)
    },
    [update],
  )
  /** Show what is saved, without changes. */
  const reset = useCallback(
    (base: SavedDefinition) => update({ base, text: writeYaml(base.definition) }, true),
    [update],
  )
  /** Show a text as a change of what is saved. */
  const restart = useCallback((base: SavedDefinition, text: string) => update({ base, text }, false), [update])
  const { text, base } = draft
  const { value, faults } = useMemo(() => parseYaml(text), [text])
  const isChanged = useMemo(() => value === undefined || !isSame(value, base.definition), [value, base])
  return { text, base, value, faults, isChanged, setText, change, reset, restart }
}

export type DefinitionState = ReturnType<typeof useDefinition>
