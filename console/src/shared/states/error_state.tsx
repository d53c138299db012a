import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import { ApiError } from '../api/api_error.ts'
import { Icon } from '../icons/icon.tsx'
import { ForeignText } from '../text/foreign_text.tsx'

interface ErrorStateProps {
  error: unknown
  what: string
  retry?: () => void
}

/** What happened, where, and what to do; the request id finds the log event of the server. */
export function ErrorState({ error, what, retry }: ErrorStateProps) {
  const isApi = error instanceof ApiError
  const message = error instanceof Error ? error.message : String(error)
  return (
    <Alert
      color="red"
      variant="light"
      icon={<Icon name="alert" />}
      title={`${what}: ${isApi ? error.title : 'error in the page'}`}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          <ForeignText>{message}</ForeignText>
        </Text>
        <Text size="sm">
          {isApi ? suggestStep(error) : 'Load the page again. If it happens again, report it with this text.'}
        </Text>
        <Group gap="xs">
          {retry && (
            <Button size="xs" variant="default" onClick={retry} leftSection={<Icon name="refresh" size={14} />}>
              Try again
            </Button>
          )}
          {isApi && error.requestId && (
            <Text size="xs">
              Request <Code>{error.requestId}</Code>
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}

function suggestStep(error: ApiError): string {
  if (error.status === 0) return 'The page tries again by itself.'
  if (error.status === 403) return 'An admin can do this, or give you the right to.'
  if (error.status === 404) return 'It may have been deleted, or it is not visible to you.'
  if (error.status === 429 || error.status === 503) {
    return error.retryAfter ? `Try again in ${error.retryAfter} seconds.` : 'Try again in a moment.'
  }
  if (error.status === 409) return 'Nothing was changed, for the reason above.'
  if (error.status === 422) return 'Change the value that is named above.'
  return 'Try again; if it stays, look for the request in the log of the server.'
}
