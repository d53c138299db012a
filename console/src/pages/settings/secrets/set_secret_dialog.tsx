import { PasswordInput, Text, TextInput } from '@mantine/core'
import { type ClipboardEvent, useState } from 'react'
import { FormDialog } from '../../../shared/action/form_dialog.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,254}$/

interface SetSecretDialogProps {
  /** The secret whose value is replaced; undefined for a new one. */
  name: string | undefined
  onClose: () => void
}

/** Takes the value of a secret. It stays in this field only, which is emptied when the dialog closes. */
export function SetSecretDialog({ name, onClose }: SetSecretDialogProps) {
  const [newName, setNewName] = useState('')
  const [value, setValue] = useState('')
  const lines = value.trimEnd().split('\n').length
  // The field has one line, and drops the line breaks of a private key.
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text')
    if (!text.trimEnd().includes('\n')) return
    event.preventDefault()
    setValue(text)
  }
  const target = name ?? newName.trim()
  const isName = NAME.test(target)
  const set = useAction({
    // Without input or result, so that the value is in no cache.
    run: async () => {
      await unwrap(api.PUT('/v1/secrets/{name}', { params: { path: { name: target } }, body: { value } }))
    },
    changes: [['secrets']],
    onDone: () => {
      setValue('')
      onClose()
    },
  })
  return (
    <FormDialog
      title={name === undefined ? 'Set a secret' : 'Replace the value of a secret'}
      submit={name === undefined ? 'Set secret' : 'Replace value'}
      isOpen
      onClose={onClose}
      action={set}
      isReady={isName && value !== ''}
    >
      {name === undefined ? (
        <TextInput
          label="Name"
          description="Letters, digits, _, . and -; an existing secret of this name gets the new value"
          value={newName}
          onChange={(event) => setNewName(event.currentTarget.value)}
          error={target !== '' && !isName ? 'Begin with a letter or _, and use only letters, digits, _ . -' : undefined}
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      ) : (
        <Text size="sm">
          Tools that use <ForeignText isMono>{name}</ForeignText> get the new value from their next call on. The old
          value is gone.
        </Text>
      )}
      <PasswordInput
        label="Value"
        description={
          lines > 1
            ? `${lines} lines were pasted, and are kept; a change here joins them`
            : 'At most 64 KiB. It is encrypted, and is never shown again'
        }
        value={value}
        onPaste={paste}
        onChange={(event) => setValue(event.currentTarget.value)}
        autoComplete="new-password"
        spellCheck={false}
        data-autofocus={name === undefined ? undefined : true}
      />
    </FormDialog>
  )
}
