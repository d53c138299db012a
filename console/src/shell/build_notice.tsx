import { Alert, Button, Group } from '@mantine/core'
import { useIsOldBuild } from '../shared/api/build_state.ts'

/** Offers to load the page again after the server was updated; nothing happens by itself, so nothing typed is lost. */
export function BuildNotice() {
  if (!useIsOldBuild()) return null
  return (
    <Alert color="yellow" variant="light" mb="md" title="The server has a newer console">
      <Group gap="sm">
        Load the page again when it suits you; what you typed here will be gone.
        <Button size="xs" variant="default" onClick={() => window.location.reload()}>
          Load again
        </Button>
      </Group>
    </Alert>
  )
}
