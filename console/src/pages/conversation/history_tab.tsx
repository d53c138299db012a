import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { saveFile } from '../../shared/copy/save_file.ts'
import { DialectSelect } from '../../shared/dialect/dialect_select.tsx'
import { dialectsQuery } from '../../shared/dialect/dialects_query.ts'
import { findDialect } from '../../shared/dialect/find_dialect.ts'
import { UnknownDialect } from '../../shared/dialect/unknown_dialect.tsx'
import { Icon } from '../../shared/icons/icon.tsx'
import { formatJson } from '../../shared/json/exact_json.ts'
import { LongText } from '../../shared/result/long_text.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import type { Thread } from '../conversations/conversations_query.ts'
import { historyQuery } from './conversation_query.ts'
import type { ConversationSearch } from './conversation_search.ts'

const route = getRouteApi('/conversations/$id')
const FIRST = 'openai_chat'

/** The conversation as messages of any provider, to continue it there. */
export default function HistoryTab({ thread }: { thread: Thread }) {
  const { as = FIRST, after } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<ConversationSearch>, isStep = false) =>
    void navigate({ search: (all) => ({ ...all, ...next }), replace: !isStep, resetScroll: false })
  const choose = (dialect: string) => change({ as: dialect, after: undefined })
  const dialects = useQuery(dialectsQuery)
  const dialect = dialects.data && findDialect(dialects.data, as, 'history')
  return (
    <Stack gap="md">
      <Group gap="md" align="end">
        <DialectSelect label="Dialect" ability="history" value={as} onChange={choose} />
      </Group>
      {dialects.error && (
        <ErrorState error={dialects.error} what="The list of dialects" retry={() => void dialects.refetch()} />
      )}
      <UnknownDialect wanted={as} ability="history" onChange={choose} />
      {dialect !== undefined && (
        <HistoryText
          thread={thread}
          dialect={dialect}
          after={after}
          onAfter={(next) => change({ after: next }, true)}
        />
      )}
    </Stack>
  )
}

interface HistoryTextProps {
  thread: Thread
  dialect: string
  after: string | undefined
  onAfter: (after: string | undefined) => void
}

function HistoryText({ thread, dialect, after, onAfter }: HistoryTextProps) {
  const history = useQuery(historyQuery(thread.id, dialect, after))
  const messages = useMemo(() => history.data && formatJson(history.data.items), [history.data])
  if (history.error) {
    return (
      <Stack gap="md" align="flex-start">
        <ErrorState error={history.error} what="The history" retry={() => void history.refetch()} />
        {after !== undefined && (
          <Button size="xs" variant="default" onClick={() => onAfter(undefined)}>
            From the beginning
          </Button>
        )}
      </Stack>
    )
  }
  if (!history.data || messages === undefined) return <ListOutline rows={6} />
  const { system, next, items } = history.data
  const isPart = after !== undefined || next !== undefined
  return (
    <>
      {isPart && (
        <Group gap="xs">
          <Text size="sm">
            This is {after === undefined ? 'the first part' : 'a later part'} of a long conversation; each part is a
            history of its own.
          </Text>
          {after !== undefined && (
            <Button size="xs" variant="default" onClick={() => onAfter(undefined)}>
              First part
            </Button>
          )}
          {next !== undefined && (
            <Button size="xs" variant="default" onClick={() => onAfter(next)}>
              Next part
            </Button>
          )}
        </Group>
      )}
      {system !== null && system !== undefined && (
        <Part
          title="System text, apart from the messages"
          text={typeof system === 'string' ? system : formatJson(system)}
          fileName={`system-${dialect}.json`}
        />
      )}
      <Part title={`Messages (${items.length})`} text={messages} fileName={`messages-${dialect}.json`} />
    </>
  )
}

function Part({ title, text, fileName }: { title: string; text: string; fileName: string }) {
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Group gap="xs">
          <CopyText text={text} label="Copy" />
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="download" size={14} />}
            onClick={() => saveFile([text], fileName)}
          >
            Download
          </Button>
        </Group>
      </Group>
      <LongText text={text} label={title} fileName={fileName} />
    </Stack>
  )
}
