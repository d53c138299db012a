import { Button, Code, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Icon } from '../../../shared/icons/icon.tsx'
import { useMe } from '../../../shared/session/use_me.ts'
import { EmptyState } from '../../../shared/states/empty_state.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'
import { useNewDialog } from '../use_new_dialog.ts'
import { EncryptionKey } from './encryption_key.tsx'
import { RemoveSecretDialog } from './remove_secret_dialog.tsx'
import { SecretRow } from './secret_row.tsx'
import { type Secret, secretsQuery } from './secrets_query.ts'
import { SetSecretDialog } from './set_secret_dialog.tsx'

/** One's own secrets: names, what uses them; their values are never shown. */
export default function SecretsSection() {
  const secrets = useInfiniteQuery(secretsQuery)
  const creation = useNewDialog('secret')
  const [replaced, setReplaced] = useState<string>()
  const [removed, setRemoved] = useState<Secret>()
  const { user } = useMe()
  return (
    <>
      <Panel
        title="Your secrets"
        note={
          <>
            Values that your tools use, and that no page or response shows. A tool refers to one as{' '}
            <Code>{'{{secret:NAME}}'}</Code> in its headers, its address or its credentials.
          </>
        }
        actions={
          <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={creation.open}>
            Set a secret
          </Button>
        }
      >
        {secrets.error && <ErrorState error={secrets.error} what="Your secrets" retry={() => void secrets.refetch()} />}
        {secrets.isPending && !secrets.error && <ListOutline rows={3} />}
        {secrets.data?.length === 0 && (
          <EmptyState title="No secrets yet">
            <Text size="sm" c="dimmed">
              Set one before you register a tool that needs a password or a token.
            </Text>
          </EmptyState>
        )}
        {secrets.data && secrets.data.length > 0 && (
          <ul className={classes.rows}>
            {secrets.data.map((secret) => (
              <SecretRow
                key={secret.name}
                secret={secret}
                onReplace={() => setReplaced(secret.name)}
                onRemove={() => setRemoved(secret)}
              />
            ))}
          </ul>
        )}
        {secrets.hasNextPage && (
          <Button
            size="xs"
            variant="default"
            mt="sm"
            loading={secrets.isFetchingNextPage}
            onClick={() => void secrets.fetchNextPage()}
          >
            Show more
          </Button>
        )}
        {creation.isOpen && <SetSecretDialog name={undefined} onClose={creation.close} />}
        {replaced !== undefined && <SetSecretDialog name={replaced} onClose={() => setReplaced(undefined)} />}
        {removed && <RemoveSecretDialog secret={removed} onClose={() => setRemoved(undefined)} />}
      </Panel>
      {user.role === 'admin' && <EncryptionKey />}
    </>
  )
}
