import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { useMe } from '../../shared/session/use_me.ts'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import { type Agent, ownersQuery } from '../agents/agents_query.ts'
import { EditAgent } from './edit_agent.tsx'
import { RemoveAgent } from './remove_agent.tsx'

/** The name of an agent, what it is for and whose it is. */
export function AgentHeader({ agent }: { agent: Agent }) {
  const { user } = useMe()
  const isOwn = agent.owner_id === user.id
  const owners = useQuery({ ...ownersQuery, enabled: !isOwn }).data
  useEffect(() => {
    document.title = `${spellHidden(agent.name)} · Pegboard`
  }, [agent.name])
  return (
    <Stack gap={6} mb="md">
      <Text size="sm">
        <Anchor renderRoot={(props) => <Link to="/agents" {...props} />}>Agents</Anchor>
      </Text>
      <Group justify="space-between" gap="xs">
        <Title order={1}>
          <ForeignText isMono limit={255}>
            {agent.name}
          </ForeignText>
        </Title>
        <Group gap="xs">
          <EditAgent agent={agent} />
          <RemoveAgent agent={agent} />
        </Group>
      </Group>
      {agent.description && (
        <Text maw="75ch">
          <ForeignText limit={600}>{agent.description}</ForeignText>
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {!isOwn && (
          <>
            Owner <ForeignText isMono>{owners?.get(agent.owner_id) ?? agent.owner_id}</ForeignText>
            {' · '}
          </>
        )}
        Changed <TimeText isAge>{agent.updated_at}</TimeText>
        {' · '}
        <Anchor
          underline="always"
          renderRoot={(props) => <Link to="/executions" search={{ agent: agent.id }} {...props} />}
        >
          Its executions
        </Anchor>
        {' · '}
        <Anchor
          underline="always"
          renderRoot={(props) => <Link to="/connect" search={{ agent: agent.name }} {...props} />}
        >
          Connect a program
        </Anchor>
        {' · '}
        Id <ForeignText isMono>{agent.id}</ForeignText> <CopyText text={agent.id} label="Copy id" isIcon />
      </Text>
    </Stack>
  )
}
