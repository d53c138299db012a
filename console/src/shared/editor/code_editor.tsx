import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { readNonce } from '../security/nonce.ts'
import { CODE_COLOURS, EDITOR_THEME } from './editor_theme.ts'
import { LANGUAGES, type Language } from './languages.ts'

/** A fault of the text between two offsets. */
export interface TextFault {
  from: number
  to: number
  message: string
}

interface CodeEditorProps {
  language: Language
  label: string
  value: string
  onChange: (value: string) => void
  /** Runs on Ctrl or ⌘ with Enter. */
  onSubmit?: () => void
  /** What is wrong with the text; the same array as long as nothing changes. JSON reports its own syntax errors. */
  faults?: TextFault[]
  isReadOnly?: boolean
}

const NO_FAULTS: TextFault[] = []

/** An editor for JSON, YAML or Python; Tab leaves it. */
export default function CodeEditor(props: CodeEditorProps) {
  const { language, label, value, onChange, onSubmit, faults = NO_FAULTS, isReadOnly = false } = props
  const parent = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const events = useRef({ onChange, onSubmit })
  events.current = { onChange, onSubmit }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; the effects below update it
  useEffect(() => {
    const submit = () => {
      events.current.onSubmit?.()
      return events.current.onSubmit !== undefined
    }
    const made = new EditorView({
      parent: parent.current ?? undefined,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          highlightSpecialChars(),
          indentOnInput(),
          bracketMatching(),
          LANGUAGES[language](),
          lintGutter(),
          syntaxHighlighting(HighlightStyle.define(CODE_COLOURS)),
          EditorState.readOnly.of(isReadOnly),
          EditorView.lineWrapping,
          EditorView.cspNonce.of(readNonce()),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.theme(EDITOR_THEME),
          keymap.of([{ key: 'Mod-Enter', run: submit }, ...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) events.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const current = view.current?.state.doc.toString()
    if (current !== undefined && current !== value) {
      view.current?.dispatch({ changes: { from: 0, to: current.length, insert: value } })
    }
  }, [value])
  useEffect(() => {
    const state = view.current?.state
    if (state === undefined || language === 'json') return
    const { length } = state.doc
    const found = faults.map(({ from, to, message }) => {
      const start = Math.max(0, Math.min(from, length))
      return { from: start, to: Math.max(start, Math.min(to, length)), message, severity: 'error' as const }
    })
    view.current?.dispatch(setDiagnostics(state, found))
  }, [faults, language])
  return <div ref={parent} />
}
