import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useShortcuts } from '../../shared/keyboard/use_shortcuts.ts'
import { ChoiceSelect } from '../../shared/list/choice_select.tsx'
import { FilterInput } from '../../shared/list/filter_input.tsx'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import classes from './imports_page.module.css'
import { documentListQuery, upstreamListQuery } from './imports_query.ts'
import type { ImportsSearch } from './imports_search.ts'
import { SourceList } from './source_list.tsx'
import { SourcePanel } from './source_panel.tsx'
import { listSources } from './sources.ts'

const route = getRouteApi('/imports')
const KIND_CHOICES = [
  { value: 'mcp', label: 'MCP servers' },
  { value: 'openapi', label: 'API documents' },
] as const

/** The imported MCP servers and API documents, and the opened one beside them. */
export function SourceView() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const upstreams = useInfiniteQuery(upstreamListQuery)
  const documents = useInfiniteQuery(documentListQuery)
  const change = useCallback(
    (next: Partial<ImportsSearch>, isStep = false) =>
      void navigate({ search: (previous) => ({ ...previous, ...next }), replace: !isStep, resetScroll: false }),
    [navigate],
  )
  const close = useCallback(() => change({ open: undefined }), [change])
  useShortcuts(search.open === undefined ? {} : { Escape: close })
  const loadMore = () => {
    for (const list of [upstreams, documents])
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
  }
  const isLoaded = upstreams.data !== undefined && documents.data !== undefined
  const error = upstreams.error ?? documents.error
  const sources = listSources(upstreams.data ?? [], documents.data ?? [], search)
  const isFiltered = Boolean(search.q || search.kind)
  const open = sources.find((source) => source.key === search.open)
  const retry = () => {
    void upstreams.refetch()
    void documents.refetch()
  }
  return (
    <>
      <Group gap="xs" mb="sm" className={search.open === undefined ? undefined : classes.above}>
        <FilterInput
          value={search.q ?? ''}
          label="Filter by name or address"
          onChange={(q) => change({ q: q || undefined })}
        />
        <ChoiceSelect
          label="Kind of source"
          all="All sources"
          value={search.kind}
          choices={KIND_CHOICES}
          onChange={(kind) => change({ kind })}
        />
      </Group>
      <div className={search.open === undefined ? undefined : classes.split}>
        <div>
          {error && <ErrorState error={error} what="The list of sources" retry={retry} />}
          {!isLoaded && !error && <ListOutline rows={4} />}
          {isLoaded && sources.length === 0 && (
            <EmptyState title={isFiltered ? 'No source matches these filters' : 'Nothing was imported yet'}>
              {isFiltered ? (
                <Button variant="default" size="xs" onClick={() => change({ q: undefined, kind: undefined })}>
                  Remove all filters
                </Button>
              ) : (
                <Text size="sm" c="dimmed">
                  Import the document of an API, and each operation becomes a tool. Or import an MCP server with its
                  tools, prompts and resources.
                </Text>
              )}
            </EmptyState>
          )}
          {sources.length > 0 && (
            <SourceList
              sources={sources}
              openKey={search.open}
              onOpen={(source) => change({ open: source.key }, search.open === undefined)}
              hasMore={upstreams.hasNextPage || documents.hasNextPage}
              loadMore={loadMore}
            />
          )}
        </div>
        {search.open !== undefined && isLoaded && (
          <SourcePanel key={search.open} id={search.open} source={open} onClose={close} />
        )}
      </div>
    </>
  )
}
