import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../shared/api/client.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { toolQuery } from './tool_query.ts'

/** Why the tool of the address does not exist any more: it has another name, or it was deleted. */
export function ToolGone({ tool }: { tool: Schemas['ToolResponse'] }) {
  const renamed = useQuery(toolQuery(tool.id)).data
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="md"
      icon={<Icon name="alert" />}
      title={renamed ? 'The tool was renamed' : 'The tool was deleted, or you may not see it any more'}
    >
      {renamed ? (
        <>
          <Text size="sm">
            Its name is{' '}
            <ForeignText isMono limit={255}>
              {renamed.name}
            </ForeignText>{' '}
            now. Calls by the old name are refused.
          </Text>
          <Group mt="xs">
            <Button
              size="xs"
              variant="default"
              renderRoot={(props) => (
                <Link to="/tools/$ref" params={{ ref: renamed.name }} search={(all) => all} {...props} />
              )}
            >
              Open it
            </Button>
          </Group>
        </>
      ) : (
        <>
          <Text size="sm">This page shows it as it was. Its owner and admins can restore it.</Text>
          <Group mt="xs">
            <Button
              size="xs"
              variant="default"
              renderRoot={(props) => <Link to="/tools" search={{ state: 'deleted' }} {...props} />}
            >
              Deleted tools
            </Button>
          </Group>
        </>
      )}
    </Alert>
  )
}
