import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { linter, lintGutter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { readNonce } from '../security/nonce.ts'
import { CODE_COLOURS, EDITOR_THEME } from './editor_theme.ts'

interface JsonEditorProps {
  label: string
  value: string
  onChange: (value: string) => void
  onSubmit: () => void
}

/** An editor for JSON; Esc and then Tab leaves it. */
export default function JsonEditor({ label, value, onChange, onSubmit }: JsonEditorProps) {
  const parent = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const events = useRef({ onChange, onSubmit })
  events.current = { onChange, onSubmit }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; the effect below updates its text
  useEffect(() => {
    const submit = () => {
      events.current.onSubmit()
      return true
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
          json(),
          linter((editor) => (editor.state.doc.toString().trim() === '' ? [] : jsonParseLinter()(editor))),
          lintGutter(),
          syntaxHighlighting(HighlightStyle.define(CODE_COLOURS)),
          EditorView.lineWrapping,
          EditorView.cspNonce.of(readNonce()),
          EditorView.contentAttributes.of({ 'aria-label': label }),
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
  return <div ref={parent} />
}
