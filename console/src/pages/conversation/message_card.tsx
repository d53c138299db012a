import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CallCard } from '../../shared/call_card/call_card.tsx'
import { saveFile } from '../../shared/copy/save_file.ts'
import { formatBytes } from '../../shared/format/numbers.ts'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import type { Message } from './conversation_query.ts'
import classes from './messages.module.css'

const FIRST_CHARACTERS = 2_000
const MOST_CHARACTERS = 100_000
const FIRST_CALLS = 10

/** One message: who wrote it, its text, and its calls. */
export function MessageCard({ message }: { message: Message }) {
  const [isAll, setAll] = useState(false)
  const calls = isAll ? message.calls : message.calls.slice(0, FIRST_CALLS)
  return (
    <article className={classes.message} aria-label={`Message of the ${message.role}`}>
      <Group gap="xs" mb={6}>
        <StatusBadge tone="idle">{message.role}</StatusBadge>
        <Text size="sm" c="dimmed">
          <TimeText>{message.timestamp}</TimeText>
        </Text>
      </Group>
      {message.content && <MessageText text={message.content} />}
      {calls.length > 0 && (
        <Stack gap="xs" mt="xs">
          {calls.map((call, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the calls of one message never move
            <CallCard key={place} call={call} />
          ))}
          {calls.length < message.calls.length && (
            <Group>
              <Button size="xs" variant="default" onClick={() => setAll(true)}>
                {message.calls.length - calls.length} more calls
              </Button>
            </Group>
          )}
        </Stack>
      )}
    </article>
  )
}

/** The text of a message: its beginning, more on request, and all of it as a file. */
function MessageText({ text }: { text: string }) {
  const [limit, setLimit] = useState(FIRST_CHARACTERS)
  return (
    <>
      <div className={classes.text}>
        <ForeignText limit={limit}>{text}</ForeignText>
      </div>
      {text.length > limit && (
        <Group gap="xs" mt={6}>
          {limit < MOST_CHARACTERS && (
            <Button size="compact-xs" variant="default" onClick={() => setLimit(Math.min(MOST_CHARACTERS, limit * 10))}>
              Show more
            </Button>
          )}
          <Button size="compact-xs" variant="default" onClick={() => saveFile([text], 'message.txt')}>
            Download all ({formatBytes(text.length)})
          </Button>
        </Group>
      )}
    </>
  )
}
