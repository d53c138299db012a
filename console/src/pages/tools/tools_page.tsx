import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { Icon } from '../../shared/icons/icon.tsx'
import { FilterInput } from '../../shared/list/filter_input.tsx'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { BulkBar } from './bulk/bulk_bar.tsx'
import type { Tool } from './bulk/bulk_requests.ts'
import { BulkResultNote } from './bulk/bulk_result.tsx'
import { useBulk } from './bulk/use_bulk.ts'
import { ChangedTools } from './changed_tools.tsx'
import { ToolFilters } from './tool_filters.tsx'
import { ToolList } from './tool_list.tsx'
import { toolsQuery } from './tools_query.ts'
import type { ToolsSearch } from './tools_search.ts'

const route = getRouteApi('/tools')

/** The list of tools, filtered while the person types. */
export function ToolsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(toolsQuery(search))
  const change = useCallback(
    (next: Partial<ToolsSearch>) => {
      // Deleted tools can only be restored, others not.
      if ('state' in next) setSelected(new Map())
      void navigate({ search: (previous) => ({ ...previous, ...next }), replace: true, resetScroll: false })
    },
    [navigate],
  )
  const { fetchNextPage, isFetchingNextPage } = list
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  const [selected, setSelected] = useState<ReadonlyMap<string, Tool>>(new Map())
  const select = (rows: Tool[], isSelected: boolean) =>
    setSelected((before) => {
      const after = new Map(before)
      for (const row of rows) {
        if (isSelected) after.set(row.id, row)
        else after.delete(row.id)
      }
      return after
    })
  const bulk = useBulk((tools) => select(tools, false))
  const isDeleted = search.state === 'deleted'
  const selection = { has: (row: Tool) => selected.has(row.id), onChange: select, nameOf: nameOfTool }
  const { q, kind, state, tag } = search
  const isFiltered = Boolean(q || kind || state || tag)
  const tools = list.data?.tools ?? []
  return (
    <>
      <PageHeader
        title="Tools"
        aside={
          <Text size="sm" c="dimmed" aria-live="polite">
            {list.data?.count !== undefined && `${list.data.count.toLocaleString('en')}${isFiltered ? ' match' : ''}`}
          </Text>
        }
      >
        <ChangedTools onShow={() => void list.refetch()} />
        <Button
          size="xs"
          leftSection={<Icon name="add" size={14} />}
          renderRoot={(props) => <Link to="/tools/new" {...props} />}
        >
          New tool
        </Button>
      </PageHeader>
      <Group gap="xs" mb="sm">
        <FilterInput
          value={q ?? ''}
          label="Filter by name or description"
          onChange={(q) => change({ q: q || undefined })}
        />
        <ToolFilters search={search} onChange={change} />
      </Group>
      {bulk.result && <BulkResultNote result={bulk.result} onClose={bulk.close} />}
      {list.error && <ErrorState error={list.error} what="The list of tools" retry={() => void list.refetch()} />}
      {list.isPending && !list.error && <ListOutline />}
      {list.data && tools.length === 0 && (
        <EmptyState title={isFiltered ? 'No tool matches these filters' : 'No tools yet'}>
          {isFiltered ? (
            <Button
              variant="default"
              size="xs"
              onClick={() => change({ q: undefined, kind: undefined, state: undefined, tag: undefined })}
            >
              Remove all filters
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              Register one with <Link to="/tools/new">New tool</Link> or <code>pegboard tools add FILE</code>, or import
              an API with <code>pegboard import</code>.
            </Text>
          )}
        </EmptyState>
      )}
      {tools.length > 0 && (
        <ToolList tools={tools} search={search} hasMore={list.hasNextPage} loadMore={loadMore} selection={selection} />
      )}
      {(selected.size > 0 || bulk.progress) && (
        <BulkBar
          selected={[...selected.values()]}
          isDeleted={isDeleted}
          bulk={bulk}
          onClear={() => setSelected(new Map())}
        />
      )}
    </>
  )
}

function nameOfTool(tool: Tool): string {
  return spellHidden(tool.name.slice(0, 120))
}
