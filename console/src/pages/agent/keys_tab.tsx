import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { CreateKeyDialog } from '../../shared/keys/create_key_dialog.tsx'
import { isUsable } from '../../shared/keys/key_state.ts'
import { type Key, keysQuery } from '../../shared/keys/keys_query.ts'
import { NewKeyDialog } from '../../shared/keys/new_key_dialog.tsx'
import { RevokeKeyDialog } from '../../shared/keys/revoke_key_dialog.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import type { Agent } from '../agents/agents_query.ts'

/** The keys that are bound to an agent. */
export default function KeysTab({ agent }: { agent: Agent }) {
  const keys = useQuery(keysQuery(agent.owner_id))
  const [isCreating, creation] = useDisclosure()
  const [newKey, setNewKey] = useState<string>()
  const [revoked, setRevoked] = useState<Key>()
  const now = Date.now()
  const bound = (keys.data ?? [])
    .filter((key) => key.agent_id === agent.id)
    .sort((one, other) => Number(isUsable(other, now)) - Number(isUsable(one, now)))
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text size="sm" maw="65ch">
          A program with one of these keys calls the tools of this agent, and nothing else of the board.
        </Text>
        <Button size="xs" onClick={creation.open}>
          Create a key
        </Button>
      </Group>
      {keys.error && <ErrorState error={keys.error} what="The keys" retry={() => void keys.refetch()} />}
      {keys.isPending && !keys.error && <ListOutline rows={3} />}
      {keys.data && bound.length === 0 && (
        <EmptyState title="No key is bound to this agent">
          <Text size="sm" c="dimmed">
            Create one for the program that runs the model.
          </Text>
        </EmptyState>
      )}
      {bound.length > 0 && (
        <Table.ScrollContainer minWidth={640}>
          <Table aria-label="Keys of the agent">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Begins with</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Created</Table.Th>
                <Table.Th>Last used</Table.Th>
                <Table.Th>Expires</Table.Th>
                <Table.Th>Revoke</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {bound.map((key) => (
                <KeyRow key={key.id} item={key} isActive={isUsable(key, now)} onRevoke={() => setRevoked(key)} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <CreateKeyDialog
        userId={agent.owner_id}
        agent={agent}
        isOpen={isCreating}
        onClose={creation.close}
        onCreated={setNewKey}
      />
      <NewKeyDialog value={newKey} onClose={() => setNewKey(undefined)} />
      {revoked && <RevokeKeyDialog row={revoked} isCurrent={false} onClose={() => setRevoked(undefined)} />}
    </Stack>
  )
}

interface KeyRowProps {
  item: Key
  isActive: boolean
  onRevoke: () => void
}

function KeyRow({ item, isActive, onRevoke }: KeyRowProps) {
  return (
    <Table.Tr>
      <Table.Td>
        <ForeignText isMono limit={100}>
          {item.name || '–'}
        </ForeignText>
      </Table.Td>
      <Table.Td>
        <ForeignText isMono>{item.prefix}</ForeignText>
      </Table.Td>
      <Table.Td>
        {isActive ? (
          <StatusBadge tone="quiet" hasDot>
            Valid
          </StatusBadge>
        ) : (
          <StatusBadge tone="idle">{item.revoked_at ? 'Revoked' : 'Expired'}</StatusBadge>
        )}
      </Table.Td>
      <Table.Td>
        <TimeText isAge>{item.created_at}</TimeText>
      </Table.Td>
      <Table.Td>{item.last_used_at ? <TimeText isAge>{item.last_used_at}</TimeText> : 'Never'}</Table.Td>
      <Table.Td>{item.expires_at ? <TimeText>{item.expires_at}</TimeText> : 'Never'}</Table.Td>
      <Table.Td>
        {isActive && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Revoke ${spellHidden(item.name || item.prefix)}`}
            onClick={onRevoke}
          >
            Revoke
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
