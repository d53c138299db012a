import { useCallback, useMemo, useState } from 'react'
import { formatJson, hasRawNumber, parseExactly } from './exact_json.ts'

/** The arguments of a call: one text of JSON, which form and editor both change. */
export function useArguments(initial: unknown) {
  const [text, setText] = useState(() => formatJson(initial))
  const parsed = useMemo(() => parseArguments(text), [text])
  const setValue = useCallback((value: unknown) => setText(formatJson(value ?? {})), [])
  return { text, setText, setValue, ...parsed }
}

export interface ParsedArguments {
  /** The arguments; undefined if the text is no JSON object. */
  value: Record<string, unknown> | undefined
  /** What is wrong with the text. */
  fault: string | undefined
  /** Why a form cannot show them, though they are valid. */
  noForm: string | undefined
}

/** Return the arguments of a text, or what is wrong with it. */
export function parseArguments(text: string): ParsedArguments {
  let value: unknown
  try {
    value = parseExactly(text.trim() === '' ? '{}' : text)
  } catch (error) {
    return { value: undefined, fault: `Not valid JSON: ${(error as Error).message}`, noForm: undefined }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { value: undefined, fault: 'Arguments are one JSON object, such as {"city": "Lisbon"}', noForm: undefined }
  }
  const noForm = hasRawNumber(value) ? 'A number has more digits than a form can keep; change it as JSON' : undefined
  return { value: value as Record<string, unknown>, fault: undefined, noForm }
}
