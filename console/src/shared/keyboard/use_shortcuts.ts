import { useEffect, useRef } from 'react'
import { isTyping } from './is_typing.ts'

/** Actions by key (`j`, `/`, `Enter`) or by two keys, one after the other (`g t`). */
export type Shortcuts = Record<string, (event: KeyboardEvent) => void>

const SEQUENCE_MS = 1500

/** Run actions on key presses, except while the person types. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts)
  current.current = shortcuts
  useEffect(() => {
    let first = ''
    let pressedAt = 0
    const press = (event: KeyboardEvent) => {
      if (isTyping(event)) return
      const isSoon = event.timeStamp - pressedAt < SEQUENCE_MS
      const sequence = isSoon ? current.current[`${first} ${event.key}`] : undefined
      const action = sequence ?? current.current[event.key]
      first = sequence ? '' : event.key
      pressedAt = event.timeStamp
      if (action) {
        event.preventDefault()
        action(event)
      }
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
