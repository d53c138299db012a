import { Anchor, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Icon } from '../../../shared/icons/icon.tsx'
import { CreateKeyDialog } from '../../../shared/keys/create_key_dialog.tsx'
import { isUsable } from '../../../shared/keys/key_state.ts'
import { type Key, keysQuery } from '../../../shared/keys/keys_query.ts'
import { NewKeyDialog } from '../../../shared/keys/new_key_dialog.tsx'
import { RevokeKeyDialog } from '../../../shared/keys/revoke_key_dialog.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { Panel } from '../panel.tsx'
import { RowList } from '../row_list.tsx'
import { useNewDialog } from '../use_new_dialog.ts'
import { KeyRow } from './key_row.tsx'

interface KeyListProps {
  userId: string
  /** Of the user whose keys these are, unless they are one's own. */
  userName?: string
  /** The key of this session. */
  currentKeyId?: string | undefined
}

const route = getRouteApi('/settings/$section')

/** The keys of a user: create, see the last use, revoke. */
export function KeyList({ userId, userName, currentKeyId }: KeyListProps) {
  const keys = useQuery(keysQuery(userId))
  const showsAll = route.useSearch().keys === 'all'
  const creation = useNewDialog('key')
  const [newKey, setNewKey] = useState<string>()
  const [revoked, setRevoked] = useState<Key>()
  const all = [...(keys.data ?? [])].reverse()
  const usable = all.filter((key) => isUsable(key, Date.now()))
  const shown = showsAll ? all : usable
  const hidden = all.length - usable.length
  return (
    <Panel
      title={userName === undefined ? 'Your keys' : 'Keys'}
      note="Programs and agents use a key to act as this user. Only its beginning is stored in readable form."
      actions={
        <Button
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={creation.open}
          disabled={keys.isPending}
        >
          Create a key
        </Button>
      }
    >
      {keys.error && <ErrorState error={keys.error} what="The keys" retry={() => void keys.refetch()} />}
      {keys.isPending && !keys.error && <ListOutline rows={3} />}
      {keys.data && shown.length === 0 && (
        <Text size="sm" c="dimmed">
          No key can be used. Create one to call the API, the command line or MCP as this user.
        </Text>
      )}
      {shown.length > 0 && (
        <RowList
          items={shown}
          renderRow={(key) => (
            <KeyRow key={key.id} row={key} isCurrent={key.id === currentKeyId} onRevoke={() => setRevoked(key)} />
          )}
        />
      )}
      {hidden > 0 && (
        <Text size="sm" mt="sm">
          <Anchor
            underline="always"
            size="sm"
            renderRoot={(props) => (
              <Link
                to="."
                search={(search) => ({ ...search, keys: showsAll ? undefined : 'all' })}
                replace
                resetScroll={false}
                {...props}
              />
            )}
          >
            {showsAll ? 'Hide keys that cannot be used' : `Show ${hidden} revoked or expired`}
          </Anchor>
        </Text>
      )}
      <CreateKeyDialog
        userId={userId}
        userName={userName}
        isOpen={creation.isOpen}
        onClose={creation.close}
        onCreated={setNewKey}
      />
      <NewKeyDialog value={newKey} onClose={() => setNewKey(undefined)} />
      {revoked && (
        <RevokeKeyDialog row={revoked} isCurrent={revoked.id === currentKeyId} onClose={() => setRevoked(undefined)} />
      )}
    </Panel>
  )
}
