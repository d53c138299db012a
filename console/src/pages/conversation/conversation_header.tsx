import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import type { Thread } from '../conversations/conversations_query.ts'
import { DeleteThread } from './delete_thread.tsx'
import { RenameThread } from './rename_thread.tsx'

/** The title of a conversation, and what belongs to it. */
export function ConversationHeader({ thread }: { thread: Thread }) {
  const title = thread.title ?? 'Without a title'
  useEffect(() => {
    document.title = `${spellHidden(title)} · Pegboard`
  }, [title])
  return (
    <Stack gap={6} mb="md">
      <Text size="sm">
        <Anchor renderRoot={(props) => <Link to="/conversations" {...props} />}>Conversations</Anchor>
      </Text>
      <Group justify="space-between" gap="xs">
        <Title order={1}>
          {thread.title === null ? 'Without a title' : <ForeignText limit={200}>{`“${thread.title}”`}</ForeignText>}
        </Title>
        <Group gap="xs">
          <RenameThread thread={thread} />
          <DeleteThread thread={thread} />
        </Group>
      </Group>
      <Text size="sm" c="dimmed">
        {thread.messages === 1 ? '1 message' : `${thread.messages.toLocaleString('en')} messages`}
        {', created '}
        <TimeText isAge>{thread.created_at}</TimeText>
        {', changed '}
        <TimeText isAge>{thread.updated_at}</TimeText>
        {' · '}
        <Anchor
          underline="always"
          renderRoot={(props) => <Link to="/executions" search={{ thread: thread.id }} {...props} />}
        >
          Its executions
        </Anchor>
        {thread.agent_id && (
          <>
            {' · '}
            <Anchor
              underline="always"
              renderRoot={(props) => <Link to="/agents/$id" params={{ id: thread.agent_id ?? '' }} {...props} />}
            >
              Its agent
            </Anchor>
          </>
        )}
        {' · '}
        Id <ForeignText isMono>{thread.id}</ForeignText> <CopyText text={thread.id} label="Copy id" isIcon />
      </Text>
    </Stack>
  )
}
