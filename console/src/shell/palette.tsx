import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { api, unwrap } from '../shared/api/client.ts'
import { Icon } from '../shared/icons/icon.tsx'
import { useLogOut } from '../shared/session/use_log_out.ts'
import { useMe } from '../shared/session/use_me.ts'
import { spellHidden } from '../shared/text/visible_text.ts'
import { listPaletteActions } from './palette_actions.ts'

interface PaletteProps {
  onShowShortcuts: () => void
}

/** Search over tools, agents and calls, pages and actions: Ctrl K or ⌘ K. */
export function Palette({ onShowShortcuts }: PaletteProps) {
  const [query, setQuery] = useState('')
  const [text] = useDebouncedValue(query.trim(), 120)
  const navigate = useNavigate()
  const { user } = useMe()
  const logOut = useLogOut()
  const found = useQuery({
    queryKey: ['search', text],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/search', { params: { query: { q: text } }, signal })),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
  const results: SpotlightActionData[] = (text === '' ? [] : (found.data?.items ?? [])).flatMap((item) => {
    if (item.type === 'tool') {
      const open = () => void navigate({ to: '/tools/$ref', params: { ref: item.name } })
      const label = `Call ${spellHidden(item.name)}`
      return [{ id: item.id, label, description: 'Tool', leftSection: <Icon name="tools" />, onClick: open }]
    }
    if (item.type === 'agent') {
      const open = () => void navigate({ to: '/agents/$id', params: { id: item.id } })
      const label = spellHidden(item.name)
      return [{ id: item.id, label, description: 'Agent', leftSection: <Icon name="agents" />, onClick: open }]
    }
    if (item.type === 'execution') {
      const open = () => void navigate({ to: '/executions', search: { open: item.id } })
      const description = `Execution ${item.id}`
      const label = spellHidden(item.name)
      return [{ id: item.id, label, description, leftSection: <Icon name="executions" />, onClick: open }]
    }
    if (item.type === 'user') {
      const search = { open: item.id }
      const open = () => void navigate({ to: '/settings/$section', params: { section: 'people' }, search })
      const label = spellHidden(item.name)
      return [{ id: item.id, label, description: 'User', leftSection: <Icon name="account" />, onClick: open }]
    }
    return []
  })
  const words = query.trim().toLowerCase()
  const fixed: SpotlightActionData[] = listPaletteActions({
    navigate,
    isAdmin: user.role === 'admin',
    showShortcuts: onShowShortcuts,
    logOut,
  })
    .filter(({ label, isSearched }) => (words === '' ? !isSearched : label.toLowerCase().includes(words)))
    .map(({ id, label, icon, run }) => ({ id, label, leftSection: <Icon name={icon} />, onClick: run }))
  const actions = [...results, ...fixed]
  // Results arrive after the text was typed, so that none of them is selected yet.
  const openFirst = (event: KeyboardEvent<HTMLInputElement>) => {
    const hasSelected = event.currentTarget.closest('[role=dialog]')?.querySelector('[data-selected]')
    if (event.key !== 'Enter' || hasSelected || !actions[0]) return
    spotlight.close()
    actions[0].onClick?.(event as never)
  }
  return (
    <Spotlight
      actions={actions}
      filter={(_query, actions) => actions}
      query={query}
      onQueryChange={setQuery}
      nothingFound={found.isFetching ? 'Searching' : 'Nothing found'}
      highlightQuery={false}
      // What is typed at once after Ctrl K must arrive.
      transitionProps={{ duration: 0 }}
      overlayProps={{ blur: 0 }}
      shortcut={['mod + K']}
      searchProps={{
        'aria-label': 'Search tools, executions and pages',
        placeholder: 'Search tools, executions and pages',
        leftSection: <Icon name="search" />,
        // The focus trap of the dialog comes later, and would lose what is typed at once.
        autoFocus: true,
        onKeyDown: openFirst,
      }}
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
    />
  )
}
