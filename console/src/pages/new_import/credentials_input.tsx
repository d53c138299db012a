import { Button, Group, NativeSelect, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../../shared/action/form_dialog.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import type { ImportForm } from './import_form.ts'

const TYPES = [
  { value: '', label: 'None' },
  { value: 'bearer', label: 'Bearer token' },
  { value: 'api_key', label: 'API key in a header' },
  { value: 'basic', label: 'User and password' },
]

interface CredentialsInputProps {
  form: ImportForm
  /** Whether requests have credentials; a command gets its own in the environment. */
  hasTypes: boolean
  onChange: (next: Partial<ImportForm>) => void
}

/** How the tools prove themselves to the server: a stored secret, whose value the page never gets. */
export function CredentialsInput({ form, hasTypes, onChange }: CredentialsInputProps) {
  const [isStoring, setStoring] = useState(false)
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const secrets = useQuery({
    queryKey: ['secrets', 'names'],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/secrets', { params: { query: { limit: 200 } }, signal })),
    select: (page) => page.items.map((secret) => secret.name),
  })
  const store = useAction({
    run: () => unwrap(api.PUT('/v1/secrets/{name}', { params: { path: { name } }, body: { value } })),
    changes: [['secrets']],
    onDone: (secret) => {
      setStoring(false)
      setValue('')
      onChange({ secret: secret.name })
    },
  })
  const names = secrets.data ?? []
  // Also while the list is loaded again with the one that was just stored.
  const known = form.secret && !names.includes(form.secret) ? [...names, form.secret] : names
  const select = (
    <NativeSelect
      label="Secret"
      value={form.secret}
      data={[{ value: '', label: 'Choose …' }, ...known.map((each) => ({ value: each, label: spellHidden(each) }))]}
      onChange={(event) => onChange({ secret: event.currentTarget.value })}
    />
  )
  return (
    <Stack gap="sm">
      <Group gap="sm" align="end">
        {hasTypes && (
          <NativeSelect
            label="Credentials"
            value={form.credentials}
            data={TYPES}
            onChange={(event) => onChange({ credentials: event.currentTarget.value as ImportForm['credentials'] })}
          />
        )}
        {hasTypes && form.credentials === 'basic' && (
          <TextInput
            label="User"
            value={form.username}
            onChange={(event) => onChange({ username: event.currentTarget.value })}
            spellCheck={false}
          />
        )}
        {hasTypes && form.credentials === 'api_key' && (
          <TextInput
            label="Header"
            placeholder="X-API-Key"
            value={form.headerName}
            onChange={(event) => onChange({ headerName: event.currentTarget.value })}
            spellCheck={false}
          />
        )}
        {hasTypes && form.credentials && select}
        <Button variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => setStoring(true)}>
          Store a secret
        </Button>
      </Group>
      <FormDialog
        title="Store a secret"
        isOpen={isStoring}
        onClose={() => {
          setStoring(false)
          setValue('')
        }}
        action={store}
        submit="Store"
        isReady={name !== '' && value !== ''}
      >
        <TextInput
          label="Name"
          description="Tools refer to it as {{secret:NAME}}; a secret of this name is replaced"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          spellCheck={false}
          data-autofocus
        />
        <PasswordInput
          label="Value"
          description="Stored encrypted, and never shown again"
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
          autoComplete="off"
        />
      </FormDialog>
    </Stack>
  )
}
