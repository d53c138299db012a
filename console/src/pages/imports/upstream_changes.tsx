import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ActionButton } from '../../shared/action/action_button.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { acceptChange } from './accept_change.ts'
import { ChangeItem } from './change_item.tsx'
import { type Change, listChanges } from './changes.ts'
import classes from './imports_page.module.css'
import { changesQuery, SOURCE_QUERIES, type Upstream } from './imports_query.ts'

const FIRST = 20

interface UpstreamChangesProps {
  upstream: Upstream
  isOpen: boolean
}

/** What one server has changed, with the values before and after; accepts one change or all. */
export function UpstreamChanges({ upstream, isOpen }: UpstreamChangesProps) {
  const { id, name, counts } = upstream
  const queryClient = useQueryClient()
  const found = useQuery({ ...changesQuery(id), enabled: isOpen })
  const [shown, setShown] = useState(FIRST)
  const [done, setDone] = useState(0)
  const changes = isOpen && found.data ? listChanges(found.data) : undefined
  const reload = () => queryClient.invalidateQueries({ queryKey: changesQuery(id).queryKey })
  const acceptAll = useAction({
    run: async (all: Change[]) => {
      setDone(0)
      for (const change of all) {
        await acceptChange(id, change)
        setDone((before) => before + 1)
      }
    },
    changes: SOURCE_QUERIES,
    onDone: () => void reload(),
  })
  const all = {
    ...acceptAll,
    mutate: () => acceptAll.mutate(changes ?? []),
    reset: () => {
      acceptAll.reset()
      void reload()
    },
  }
  return (
    <section className={classes.card} aria-label={`Changes of ${name}`}>
      <Group justify="space-between" gap="xs">
        <Group gap="sm" align="baseline">
          <Title order={2} size="h4">
            <ForeignText limit={120}>{name}</ForeignText>
          </Title>
          <Text size="sm" c="dimmed" aria-live="polite">
            {acceptAll.isPending
              ? `Accepted ${done} of ${changes?.length ?? 0}`
              : `${changes?.length ?? counts.drifted} to accept`}
          </Text>
        </Group>
        <Group gap="xs">
          {!isOpen && (
            <Button
              size="xs"
              variant="default"
              renderRoot={(props) => (
                <Link
                  from="/imports"
                  to="/imports"
                  search={(all) => ({ ...all, open: id })}
                  resetScroll={false}
                  {...props}
                />
              )}
            >
              Show the changes
            </Button>
          )}
          {changes && changes.length > 0 && (
            <>
              <Button size="xs" variant="default" loading={found.isFetching} onClick={() => void reload()}>
                Check again
              </Button>
              <ActionButton action={all} what="Accepting all changes" size="xs">
                {changes.length === 1 ? 'Accept' : `Accept all ${changes.length}`}
              </ActionButton>
            </>
          )}
        </Group>
      </Group>
      {isOpen && found.error && (
        <ErrorState error={found.error} what={`Reading what ${name} offers`} retry={() => void found.refetch()} />
      )}
      {isOpen && found.isPending && !found.error && <ListOutline rows={3} />}
      {changes?.length === 0 && (
        <Text size="sm" mt="xs">
          The server offers what was accepted; there is nothing to accept.
        </Text>
      )}
      {changes && changes.length > 0 && (
        <Stack gap="md" mt="md">
          {changes.slice(0, shown).map((change) => (
            <ChangeItem
              key={`${change.kind} ${change.name}`}
              change={change}
              accept={() => acceptChange(id, change)}
              hasButton={changes.length > 1}
              onAccepted={() => void reload()}
            />
          ))}
          {shown < changes.length && (
            <Group>
              <Button size="xs" variant="default" onClick={() => setShown(shown + FIRST)}>
                Show {Math.min(FIRST, changes.length - shown)} more of {changes.length - shown}
              </Button>
            </Group>
          )}
        </Stack>
      )}
    </section>
  )
}
