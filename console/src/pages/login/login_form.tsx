import { Button, PasswordInput, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { logIn } from '../../shared/session/log_in.ts'
import { LoginError } from './login_error.tsx'

interface LoginFormProps {
  onDone: () => void
}

/** Takes a key and logs in with it; the key stays in this field only. */
export function LoginForm({ onDone }: LoginFormProps) {
  const [key, setKey] = useState('')
  const login = useMutation({
    mutationFn: () => logIn({ key: key.trim() }),
    onSuccess: () => {
      setKey('')
      onDone()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (key.trim() !== '') login.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <PasswordInput
          label="API key"
          description="It begins with pb_ and is exchanged for a session; the browser does not store it."
          placeholder="pb_…"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          autoFocus
        />
        {login.error && <LoginError error={login.error} />}
        <Button type="submit" loading={login.isPending} disabled={key.trim() === ''}>
          Log in
        </Button>
      </Stack>
    </form>
  )
}
