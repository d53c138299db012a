import { Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { LoginForm } from '../pages/login/login_form.tsx'
import { continueSession } from '../shared/session/continue_session.ts'
import { startSession, useSessionEnded } from '../shared/session/session_state.ts'

/** Asks to log in again over the page, which stays as it was. */
export function LoginDialog() {
  const hasEnded = useSessionEnded()
  const queryClient = useQueryClient()
  const finish = () => {
    startSession()
    void continueSession(queryClient)
  }
  return (
    <Modal
      opened={hasEnded}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session is over"
      // Above any other dialog, whose content stays.
      zIndex={500}
    >
      <Stack gap="md">
        <Text size="sm">Log in to continue. What you typed on the page behind is kept.</Text>
        <LoginForm onDone={finish} />
      </Stack>
    </Modal>
  )
}
