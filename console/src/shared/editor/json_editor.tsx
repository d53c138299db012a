import CodeEditor from './code_editor.tsx'

interface JsonEditorProps {
  label: string
  value: string
  onChange: (value: string) => void
  onSubmit: () => void
}

/** An editor for JSON. */
export default function JsonEditor(props: JsonEditorProps) {
  return <CodeEditor language="json" {...props} />
}
