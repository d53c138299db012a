import { Alert, Text } from '@mantine/core'
import { ApiError } from '../../shared/api/api_error.ts'
import { Icon } from '../../shared/icons/icon.tsx'

/** Why the log-in failed, and the way out. */
export function LoginError({ error }: { error: Error }) {
  return (
    <Alert color="red" variant="light" icon={<Icon name="alert" />} title="Not logged in" role="alert">
      <Text size="sm">{error.message}</Text>
      {error instanceof ApiError && error.retryAfter !== undefined && (
        <Text size="sm">Try again in {error.retryAfter} seconds.</Text>
      )}
    </Alert>
  )
}
