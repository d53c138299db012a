import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useShortcuts } from '../../shared/keyboard/use_shortcuts.ts'
import { useMe } from '../../shared/session/use_me.ts'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import { ExecutionFilters } from './execution_filters.tsx'
import { ExecutionList } from './execution_list.tsx'
import { ExecutionPanel } from './execution_panel.tsx'
import classes from './executions_page.module.css'
import { executionsQuery } from './executions_query.ts'
import { type ExecutionsSearch, listFilters } from './executions_search.ts'
import { ExportButton } from './export_button.tsx'
import { FilterChips } from './filter_chips.tsx'
import { NewRows } from './new_rows.tsx'

const route = getRouteApi('/executions')

/** The journal: rows by filters, and the opened row beside them. */
export function ExecutionsPage() {
  const search = route.useSearch()
  const { user } = useMe()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(executionsQuery(search))
  const change = useCallback(
    (next: Partial<ExecutionsSearch>, isStep = false) =>
      void navigate({ search: (previous) => ({ ...previous, ...next }), replace: !isStep, resetScroll: false }),
    [navigate],
  )
  const close = useCallback(() => change({ open: undefined, part: undefined }), [change])
  useShortcuts(search.open === undefined ? {} : { Escape: close })
  const { fetchNextPage, isFetchingNextPage } = list
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  const clear = () => void navigate({ search: { open: search.open }, replace: true })
  const rows = list.data?.rows ?? []
  const isFiltered = Object.values(listFilters(search)).some((value) => value !== undefined)
  return (
    <>
      <PageHeader title="Executions">
        {user.role === 'admin' && <ExportButton search={search} />}
        <NewRows search={search} rows={rows} onShow={() => void list.refetch()} />
      </PageHeader>
      <div className={search.open === undefined ? undefined : classes.above}>
        <ExecutionFilters search={search} onChange={change} />
        <FilterChips search={search} onChange={change} />
      </div>
      <div className={search.open === undefined ? undefined : classes.split}>
        <div>
          {list.error && <ErrorState error={list.error} what="The journal" retry={() => void list.refetch()} />}
          {list.isPending && !list.error && <ListOutline />}
          {list.data && rows.length === 0 && (
            <EmptyState title={isFiltered ? 'No call matches these filters' : 'No calls yet'}>
              {isFiltered ? (
                <Button variant="default" size="xs" onClick={clear}>
                  Remove all filters
                </Button>
              ) : (
                <Text size="sm" c="dimmed">
                  Each call of a tool is a row here. Open a tool and call it.
                </Text>
              )}
            </EmptyState>
          )}
          {rows.length > 0 && (
            <ExecutionList
              rows={rows}
              openKey={search.open}
              onOpen={(row) => change({ open: row.id, part: undefined }, search.open === undefined)}
              hasMore={list.hasNextPage && list.data?.searchedTo === undefined}
              loadMore={loadMore}
            />
          )}
          {list.data?.searchedTo !== undefined && list.hasNextPage && (
            <Group gap="xs" mt="sm">
              <Text size="sm">
                Searched back to <TimeText>{list.data.searchedTo}</TimeText>; older calls are not searched yet.
              </Text>
              <Button size="xs" variant="default" loading={isFetchingNextPage} onClick={loadMore}>
                Search on
              </Button>
            </Group>
          )}
        </div>
        {search.open !== undefined && (
          <ExecutionPanel
            key={search.open}
            id={search.open}
            part={search.part}
            onPart={(part) => change({ part })}
            onClose={close}
          />
        )}
      </div>
    </>
  )
}
