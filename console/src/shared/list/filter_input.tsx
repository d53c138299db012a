import { CloseButton, Kbd, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../icons/icon.tsx'
import { useShortcuts } from '../keyboard/use_shortcuts.ts'

interface FilterInputProps {
  value: string
  label: string
  onChange: (value: string) => void
}

/** A field that filters while the person types; `/` focuses it, Esc empties and leaves it. */
export function FilterInput({ value, label, onChange }: FilterInputProps) {
  const [text, setText] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  const report = useDebouncedCallback(onChange, 150)
  useEffect(() => {
    if (document.activeElement !== input.current) setText(value)
  }, [value])
  useShortcuts({ '/': () => input.current?.select() })
  const change = (next: string) => {
    setText(next)
    report(next)
  }
  return (
    <TextInput
      ref={input}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        if (text === '') input.current?.blur()
        else change('')
      }}
      leftSection={<Icon name="filter" size={16} />}
      rightSection={
        text === '' ? <Kbd size="xs">/</Kbd> : <CloseButton size="sm" aria-label="Clear" onClick={() => change('')} />
      }
      maxLength={255}
      spellCheck={false}
      flex={{ base: '1 1 100%', xs: '1 1 180px' }}
      maw={{ xs: 280 }}
    />
  )
}
