import { Code, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { logIn } from '../../shared/session/log_in.ts'
import { takeCode } from '../../shared/session/one_time_code.ts'
import { startSession } from '../../shared/session/session_state.ts'
import { Logo } from '../../shell/logo.tsx'
import { LoginError } from './login_error.tsx'
import { LoginForm } from './login_form.tsx'
import classes from './login_page.module.css'

/** Log in with a key, or by an address with a one-time code. */
export function LoginPage() {
  const queryClient = useQueryClient()
  const [error, setError] = useState<Error>()
  const finish = () => {
    startSession()
    void queryClient.resetQueries()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the code works once
  useEffect(() => {
    document.title = 'Log in · Pegboard'
    const code = takeCode()
    if (code !== undefined) logIn({ code }).then(finish, setError)
  }, [])
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <Stack gap="lg">
          <Group gap="sm">
            <Logo size={32} />
            <Title order={1}>Log in to Pegboard</Title>
          </Group>
          {error && <LoginError error={error} />}
          <LoginForm onDone={finish} />
          <Text size="sm" c="dimmed">
            On the machine of the server, <Code>pegboard console</Code> opens this page without a key.
          </Text>
        </Stack>
      </div>
    </main>
  )
}
