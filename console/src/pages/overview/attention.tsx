import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Icon } from '../../shared/icons/icon.tsx'
import { driftedQuery } from './overview_query.ts'
import type { Totals } from './totals.ts'

/** What a person should look at; nothing if all is well. */
export function Attention({ totals, since }: { totals: Totals; since: string }) {
  const drifted = useQuery(driftedQuery).data ?? 0
  if (drifted === 0 && totals.in_doubt === 0) return null
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="alert" />} title="Needs attention" mb="md">
      <Stack gap={4}>
        {drifted > 0 && (
          <Text size="sm">
            <Anchor
              underline="always"
              size="sm"
              renderRoot={(props) => <Link to="/tools" search={{ state: 'drifted' }} {...props} />}
            >
              {drifted === 1 ? '1 tool' : `${drifted} tools`}
            </Anchor>{' '}
            drifted: their MCP server has changed them since the import.
          </Text>
        )}
        {totals.in_doubt > 0 && (
          <Text size="sm">
            <Anchor
              underline="always"
              size="sm"
              renderRoot={(props) => <Link to="/executions" search={{ status: 'in_doubt', since }} {...props} />}
            >
              {totals.in_doubt === 1 ? '1 call' : `${totals.in_doubt} calls`}
            </Anchor>{' '}
            in doubt: the server ended before their results were recorded.
          </Text>
        )}
      </Stack>
    </Alert>
  )
}
