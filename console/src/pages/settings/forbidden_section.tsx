import { Alert, Text } from '@mantine/core'
import { Icon } from '../../shared/icons/icon.tsx'

/** For a member at the address of a section of admins. */
export function ForbiddenSection({ label }: { label: string }) {
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="alert" />} title={`Only admins can open ${label}`}>
      <Text size="sm">You are a member of this board. Ask an admin to do it for you, or to make you an admin.</Text>
    </Alert>
  )
}
