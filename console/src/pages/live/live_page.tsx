import { Button, Group, Text, Title } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Icon } from '../../shared/icons/icon.tsx'
import { ChoiceSelect } from '../../shared/list/choice_select.tsx'
import { FilterInput } from '../../shared/list/filter_input.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { STATUS_CHOICES } from '../executions/status_text.ts'
import { EndedCalls } from './ended_calls.tsx'
import classes from './live_page.module.css'
import type { LiveSearch } from './live_search.ts'
import { Rates } from './rates.tsx'
import { RunningCalls } from './running_calls.tsx'
import { useLiveCalls } from './use_live_calls.ts'

const route = getRouteApi('/live')

/** The calls that run now, and those that end while the page is open. */
export function LivePage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [isPaused, setPaused] = useState(false)
  const [isPointed, setPointed] = useState(false)
  const { shown, now } = useLiveCalls(isPaused || isPointed)
  const change = (next: Partial<LiveSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true })
  const text = search.q?.toLowerCase() ?? ''
  const matches = (call: { tool_name: string; caller: string }) =>
    call.tool_name.toLowerCase().includes(text) || call.caller.toLowerCase().includes(text)
  const running = [...shown.running.values()].filter(matches)
  const ended = shown.ended.filter(
    (call) => matches(call) && (search.status === undefined || call.status === search.status),
  )
  return (
    <>
      <PageHeader title="Live">
        <Button
          size="xs"
          variant={isPaused ? 'light' : 'default'}
          aria-pressed={isPaused}
          leftSection={<Icon name={isPaused ? 'play' : 'pause'} size={14} />}
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? 'Continue' : 'Pause'}
        </Button>
      </PageHeader>
      <Rates buckets={shown.buckets} running={shown.running.size} now={now} />
      <Group gap="xs" mb="md">
        <FilterInput
          value={search.q ?? ''}
          label="Filter by tool or caller"
          onChange={(q) => change({ q: q || undefined })}
        />
        <ChoiceSelect
          label="Status"
          all="Any status"
          value={search.status}
          choices={STATUS_CHOICES}
          onChange={(status) => change({ status })}
        />
      </Group>
      <RunningCalls calls={running} now={now} isFiltered={text !== ''} />
      <Group gap="sm" mt="lg" mb="xs" align="baseline">
        <Title order={2}>Ended</Title>
        <Text size="sm" c="dimmed">
          {isPointed && !isPaused ? 'Held while the pointer is over the list' : 'Newest first, at most 200'}
          {shown.hasGap && `. The server left out ${shown.missed || 'some'} events; Executions has all calls`}
        </Text>
      </Group>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it holds rows still under the pointer, and does nothing else */}
      <div className={classes.ended} onMouseEnter={() => setPointed(true)} onMouseLeave={() => setPointed(false)}>
        <EndedCalls calls={ended} />
      </div>
    </>
  )
}
