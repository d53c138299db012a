import { Button, Group, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { ActionButton } from '../../../shared/action/action_button.tsx'
import { offerUndo } from '../../../shared/action/offer_undo.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { FilterInput } from '../../../shared/list/filter_input.tsx'
import { EmptyState } from '../../../shared/states/empty_state.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import type { Agent } from '../../agents/agents_query.ts'
import { toolsQuery } from '../../tools/tools_query.ts'
import {
  agentLintQuery,
  agentToolsQuery,
  changeTools,
  chosenLintQuery,
  MAX_COUNTED,
  type ToolRow,
} from '../agent_query.ts'
import { TokenTotals } from './token_totals.tsx'
import { ToolChoices } from './tool_choices.tsx'
import classes from './tools_tab.module.css'

const route = getRouteApi('/agents/$id')
const COUNT_AFTER_MS = 150

interface ToolChooserProps {
  agent: Agent
  onClose: () => void
}

/** The board's tools with what is chosen of them, and what the choice costs while it is made. */
export default function ToolChooser({ agent, onClose }: ToolChooserProps) {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const [added, setAdded] = useState<ReadonlyMap<string, ToolRow>>(new Map())
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set())
  const list = useInfiniteQuery(toolsQuery({ q }))
  const own = useInfiniteQuery(agentToolsQuery(agent.id))
  const saved = useQuery(agentLintQuery(agent.id))
  // All tools of the agent count, also those that no page of the list has shown.
  const { fetchNextPage: fetchOwn, hasNextPage: hasMoreOwn, isFetchingNextPage: isFetchingOwn } = own
  useEffect(() => {
    if (hasMoreOwn && !isFetchingOwn) void fetchOwn()
  }, [hasMoreOwn, isFetchingOwn, fetchOwn])

  const chosen = useMemo(() => {
    const rows = new Map((own.data ?? []).map((tool) => [tool.id, tool]))
    for (const id of removed) rows.delete(id)
    for (const [id, tool] of added) rows.set(id, tool)
    return rows
  }, [own.data, added, removed])
  const toggle = (tool: ToolRow) => {
    const isOwn = agent.tools.includes(tool.id)
    if (isOwn) setRemoved((before) => flip(before, tool.id))
    else setAdded((before) => (before.has(tool.id) ? dropKey(before, tool.id) : new Map(before).set(tool.id, tool)))
  }
  const filter = useCallback(
    (text: string) =>
      void navigate({ search: (all) => ({ ...all, q: text || undefined }), replace: true, resetScroll: false }),
    [navigate],
  )
  const { fetchNextPage, isFetchingNextPage } = list
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage])
  const save = useAction({
    run: () => changeTools(agent.id, added.keys(), removed),
    changes: [['agent', agent.id], ['agents']],
    onDone: () => {
      const [add, remove] = [[...added.keys()], [...removed]]
      offerUndo({
        message: `Saved: ${describeChange(add.length, remove.length)}`,
        undo: async () => {
          await changeTools(agent.id, remove, add)
          await queryClient.invalidateQueries({ queryKey: ['agent', agent.id] })
        },
        undone: 'The agent has its former tools',
      })
      onClose()
    },
  })
  const tools = list.data?.tools ?? []
  const hasChanged = added.size + removed.size > 0
  return (
    <div className={classes.columns}>
      <div>
        <Group gap="xs" mb="sm">
          <FilterInput value={q ?? ''} label="Filter by name or description" onChange={filter} />
          <Text size="sm" c="dimmed" aria-live="polite">
            {list.data?.count !== undefined && `${list.data.count.toLocaleString('en')}${q ? ' match' : ' tools'}`}
          </Text>
        </Group>
        {list.error && <ErrorState error={list.error} what="The list of tools" retry={() => void list.refetch()} />}
        {list.isPending && !list.error && <ListOutline />}
        {list.data && tools.length === 0 && (
          <EmptyState title={q ? 'No tool matches this filter' : 'No tools yet'}>
            {q && (
              <Button variant="default" size="xs" onClick={() => filter('')}>
                Remove the filter
              </Button>
            )}
          </EmptyState>
        )}
        {tools.length > 0 && (
          <ToolChoices tools={tools} chosen={chosen} onToggle={toggle} hasMore={list.hasNextPage} loadMore={loadMore} />
        )}
      </div>
      <section aria-label="Cost of the chosen tools" className={classes.aside}>
        <Stack gap="sm">
          <Text size="sm" fw={600} aria-live="polite">
            {chosen.size} chosen{hasChanged && `, ${describeChange(added.size, removed.size)}`}
          </Text>
          <Group gap="xs">
            <ActionButton action={save} what="The change" size="xs" disabled={!hasChanged}>
              Save
            </ActionButton>
            <Button size="xs" variant="default" onClick={onClose}>
              {hasChanged ? 'Discard' : 'Close'}
            </Button>
          </Group>
          <ChosenTotals chosen={chosen} saved={saved.data} />
        </Stack>
      </section>
    </div>
  )
}

interface ChosenTotalsProps {
  chosen: ReadonlyMap<string, ToolRow>
  saved: Parameters<typeof TokenTotals>[0]['saved']
}

/** The running total of the choice; inactive tools are not given to a model, so they cost nothing. */
function ChosenTotals({ chosen, saved }: ChosenTotalsProps) {
  const ids = useMemo(
    () => [...chosen.values()].filter((tool) => tool.is_active !== false).map(({ id }) => id),
    [chosen],
  )
  const [counted] = useDebouncedValue(ids, COUNT_AFTER_MS)
  const lint = useQuery(chosenLintQuery(counted))
  if (ids.length === 0) return <Text size="sm">Without tools, the declarations cost nothing.</Text>
  if (ids.length > MAX_COUNTED) {
    return <Text size="sm">The tokens of more than {MAX_COUNTED} tools are counted when the choice is saved.</Text>
  }
  if (lint.error) return <ErrorState error={lint.error} what="The tokens" retry={() => void lint.refetch()} />
  if (!lint.data || !saved) return <ListOutline rows={4} />
  return <TokenTotals lint={lint.data} saved={saved} isOld={lint.isPlaceholderData || counted !== ids} />
}

function describeChange(added: number, removed: number): string {
  const parts = [added > 0 && `${added} added`, removed > 0 && `${removed} removed`]
  return parts.filter((part) => part !== false).join(', ')
}

function flip(set: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}

function dropKey(map: ReadonlyMap<string, ToolRow>, id: string): Map<string, ToolRow> {
  const next = new Map(map)
  next.delete(id)
  return next
}
