import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, Transaction } from '@codemirror/state'
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
const MOST_REPORTED = 200

/** An editor for JSON, YAML or Python; Tab leaves it. */
export default function CodeEditor(props: CodeEditorProps) {
  const { language, label, value, onChange, onSubmit, faults = NO_FAULTS, isReadOnly = false } = props
  const parent = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const events = useRef({ onChange, onSubmit })
  events.current = { onChange, onSubmit }
  // Texts that were reported, and may arrive as `value` while the person types on.
  const reported = useRef<string[]>([])
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
          EditorView.domEventHandlers({ beforeinput: replaceSelected }),
          keymap.of([{ key: 'Mod-Enter', run: submit }, ...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || update.transactions.some((each) => each.annotation(Transaction.remote))) return
            const text = update.state.doc.toString()
            reported.current = [...reported.current.slice(-MOST_REPORTED), text]
            events.current.onChange(text)
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const place = reported.current.indexOf(value)
    if (place !== -1) {
      reported.current = reported.current.slice(place + 1)
      return
    }
    const current = view.current?.state.doc.toString()
    if (current === undefined || current === value.replace(/\r\n?/g, '\n')) return
    const changes = { from: 0, to: current.length, insert: value }
    view.current?.dispatch({ changes, annotations: Transaction.remote.of(true) })
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

/** Replace selected text by what is typed. The browser would add inline styles, which the page's policy forbids. */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const isText = event.inputType === 'insertText' && event.data !== null && !event.isComposing
  if (!isText || view.state.readOnly) return false
  const { from, to } = readSelection(view)
  if (from === to) return false
  const insert = view.state.toText(event.data)
  const changes = { from, to, insert }
  const selection = { anchor: from + insert.length }
  view.dispatch({ changes, selection, userEvent: 'input.type', scrollIntoView: true })
  return true
}

/** Return the selection: that of the page if the state has none yet. The page has only what is visible of a long one. */
function readSelection(view: EditorView): { from: number; to: number } {
  const { main } = view.state.selection
  if (!main.empty) return main
  const selection = document.getSelection()
  const range = selection?.rangeCount ? selection.getRangeAt(0) : undefined
  if (!range || !view.contentDOM.contains(range.startContainer) || !view.contentDOM.contains(range.endContainer)) {
    return main
  }
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  }
}
