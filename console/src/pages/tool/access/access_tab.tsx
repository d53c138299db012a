import { Alert, Anchor, Stack, Table, Text, Title } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { useMe } from '../../../shared/session/use_me.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'

type Entry = Schemas['AccessResponse']

const BLOCKED = {
  inactive: 'The tool is inactive: no call is accepted until its owner or an admin activates it.',
  drifted: 'Its MCP server has changed the tool: no call is accepted until the change is reviewed and accepted.',
}

function accessQuery(id: string) {
  return queryOptions({
    queryKey: ['tool', id, 'access'],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/tools/{ref}/access', { params: { path: { ref: id } }, signal })),
  })
}

/** Who can call a tool, and because of what. */
export default function AccessTab({ tool }: { tool: Schemas['ToolResponse'] }) {
  const { user } = useMe()
  const access = useQuery(accessQuery(tool.id))
  if (access.error && !access.data) {
    return <ErrorState error={access.error} what="The access" retry={() => void access.refetch()} />
  }
  if (!access.data) return <ListOutline rows={4} />
  const { items, more, blocked_by: blockedBy } = access.data
  const isPublic = items.some(({ because }) => because === 'public')
  return (
    <Stack gap="sm">
      <Title order={2}>Who can call it</Title>
      {blockedBy && (
        <Alert color="yellow" variant="light" icon={<Icon name="alert" />} title="No call is accepted now">
          {BLOCKED[blockedBy]}
        </Alert>
      )}
      <Text size="sm">
        {isPublic
          ? 'The tool is public: every user of the board can call it.'
          : 'The tool is private: only its owner and admins can call it, and keys of agents that have it.'}
      </Text>
      <Table aria-label="Access">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Who</Table.Th>
            <Table.Th>Because of</Table.Th>
            <Table.Th>Valid keys</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((entry) => (
            <Table.Tr key={`${entry.because} ${entry.user_id} ${entry.agent_id}`}>
              <Table.Td>
                <Who entry={entry} ownId={user.id} />
              </Table.Td>
              <Table.Td>
                <Because entry={entry} />
              </Table.Td>
              <Table.Td>{describeKeys(entry)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {more && <Text size="sm">The first {items.length} are listed; there are more.</Text>}
      <Text size="xs" c="dimmed">
        A key that is bound to an agent can call the tools of that agent only.
        {user.role !== 'admin' && ' Agents of other users are not listed; admins see them.'}
      </Text>
    </Stack>
  )
}

function Who({ entry, ownId }: { entry: Entry; ownId: string }) {
  if (entry.because === 'public') return 'All users'
  if (entry.because === 'admin' && entry.user_id === null) return 'All admins'
  return (
    <>
      <ForeignText isMono limit={120}>
        {entry.user_name ?? entry.user_id}
      </ForeignText>
      {entry.user_id === ownId && ' (you)'}
    </>
  )
}

function Because({ entry }: { entry: Entry }) {
  if (entry.because === 'owner') return 'Owns the tool'
  if (entry.because === 'public') return 'The tool is public'
  if (entry.because === 'admin') return 'Admins can call every tool'
  return (
    <>
      The agent{' '}
      <Anchor
        size="sm"
        underline="always"
        renderRoot={(props) => <Link to="/agents/$id" params={{ id: entry.agent_id ?? '' }} {...props} />}
      >
        <ForeignText isMono limit={120}>
          {entry.agent_name}
        </ForeignText>
      </Anchor>{' '}
      has the tool
    </>
  )
}

function describeKeys({ because, keys }: Entry): string {
  if (keys === null) return because === 'public' ? 'any' : '–'
  return keys === 0 ? 'none' : String(keys)
}
