import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Icon } from '../../../shared/icons/icon.tsx'
import { useShortcuts } from '../../../shared/keyboard/use_shortcuts.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { useNewDialog } from '../use_new_dialog.ts'
import { AddUserDialog } from './add_user_dialog.tsx'
import classes from './people_section.module.css'
import { UserList } from './user_list.tsx'
import { UserPanel } from './user_panel.tsx'
import { usersQuery } from './users_query.ts'

const route = getRouteApi('/settings/$section')

/** The users of the board, and the opened one with their keys. */
export default function PeopleSection() {
  const { open } = route.useSearch()
  const navigate = route.useNavigate()
  const users = useInfiniteQuery(usersQuery)
  const addition = useNewDialog('user')
  const openUser = useCallback(
    (id: string | undefined) =>
      void navigate({ search: (all) => ({ ...all, open: id }), replace: open !== undefined, resetScroll: false }),
    [navigate, open],
  )
  const showAdded = (id: string) =>
    void navigate({ search: (all) => ({ ...all, open: id, new: undefined }), replace: true, resetScroll: false })
  const close = useCallback(() => openUser(undefined), [openUser])
  useShortcuts(open === undefined ? {} : { Escape: close })
  const { fetchNextPage, isFetchingNextPage } = users
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          Each person and each program has a user, and acts with a key of it.
        </Text>
        <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={addition.open}>
          Add a user
        </Button>
      </Group>
      {users.error && <ErrorState error={users.error} what="The users" retry={() => void users.refetch()} />}
      {users.isPending && !users.error && <ListOutline />}
      <div className={open === undefined ? undefined : classes.split}>
        {users.data && (
          <UserList
            users={users.data}
            openId={open}
            onOpen={openUser}
            hasMore={users.hasNextPage}
            loadMore={loadMore}
          />
        )}
        {open !== undefined && <UserPanel key={open} id={open} onClose={close} />}
      </div>
      <AddUserDialog isOpen={addition.isOpen} onClose={addition.close} onAdded={showAdded} />
    </>
  )
}
