import { Button, CloseButton, FileButton, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ClipboardEvent, type DragEvent, useState } from 'react'
import { formatBytes } from '../../shared/format/numbers.ts'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import type { ImportForm } from './import_form.ts'
import classes from './new_import_page.module.css'

// A field with more text is slow to show; longer text is kept without showing it.
const MAX_SHOWN = 100_000
const MAX_BYTES = 256 * 1024 * 1024

interface DocumentInputProps {
  form: ImportForm
  by: 'file' | 'url' | 'text'
  onChange: (next: Partial<ImportForm>) => void
}

/** The document of an API: a file, its address or its text. */
export function DocumentInput({ form, by, onChange }: DocumentInputProps) {
  const [error, setError] = useState<string>()
  const readFile = async (file: File | null | undefined) => {
    if (!file) return
    setError(undefined)
    if (file.size > MAX_BYTES) {
      setError(`${file.name} has ${formatBytes(file.size)}; a document has at most ${formatBytes(MAX_BYTES)}`)
      return
    }
    try {
      onChange({ document: { name: file.name, text: await file.text() } })
    } catch {
      setError(`${file.name} cannot be read; choose it again`)
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    void readFile(event.dataTransfer.files[0])
  }
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text')
    if (text.length <= MAX_SHOWN) return
    event.preventDefault()
    onChange({ document: { name: 'Pasted text', text } })
  }
  const { document } = form
  if (by === 'url') {
    return (
      <TextInput
        label="Address of the document"
        description="The board fetches it; it must be reachable from the server"
        placeholder="https://api.example.com/openapi.json"
        value={form.url}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
        spellCheck={false}
      />
    )
  }
  if (document && (by === 'file' || document.text.length > MAX_SHOWN)) {
    return (
      <Group gap="xs" className={classes.file}>
        <ForeignText isMono limit={200}>
          {document.name}
        </ForeignText>
        <Text size="sm" c="dimmed">
          {formatBytes(new Blob([document.text]).size)}
        </Text>
        <CloseButton size="sm" aria-label="Remove the document" onClick={() => onChange({ document: undefined })} />
      </Group>
    )
  }
  if (by === 'text') {
    return (
      <Textarea
        label="OpenAPI 3.0, 3.1 or Swagger 2.0 document"
        description="JSON or YAML"
        value={document?.text ?? ''}
        onChange={(event) => {
          const text = event.currentTarget.value
          onChange({ document: text === '' ? undefined : { name: 'Typed text', text } })
        }}
        onPaste={paste}
        rows={10}
        spellCheck={false}
        classNames={{ input: classes.mono ?? '' }}
      />
    )
  }
  return (
    <Stack gap={6}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button does the same */}
      <div className={classes.drop} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
        <Text size="sm">OpenAPI 3.0, 3.1 or Swagger 2.0, as JSON or YAML</Text>
        <FileButton onChange={(file) => void readFile(file)} accept=".json,.yaml,.yml,application/json,text/yaml">
          {(props) => (
            <Button variant="default" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
        <Text size="xs" c="dimmed">
          or drop it here
        </Text>
      </div>
      {error && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  )
}
