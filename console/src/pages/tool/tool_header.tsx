import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Schemas } from '../../shared/api/client.ts'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import { describeRateLimit } from '../../shared/tool/rate_limit_text.ts'
import { ToolState } from '../tools/tool_state.tsx'

/** The name of a tool, its state and what it does. */
export function ToolHeader({ tool }: { tool: Schemas['ToolResponse'] }) {
  useEffect(() => {
    document.title = `${spellHidden(tool.name)} · Pegboard`
  }, [tool.name])
  const { rate_limit: limit } = tool
  return (
    <Stack gap={6} mb="lg">
      <Text size="sm">
        <Anchor renderRoot={(props) => <Link to="/tools" {...props} />}>Tools</Anchor>
      </Text>
      <Group gap="xs">
        <Title order={1} mr={4}>
          <ForeignText isMono limit={255}>
            {tool.name}
          </ForeignText>
        </Title>
        <ToolState tool={tool} />
        <StatusBadge tone="idle">{tool.tool_type}</StatusBadge>
        {tool.read_only && <StatusBadge tone="good">Read-only</StatusBadge>}
        {tool.destructive && <StatusBadge tone="bad">Destructive</StatusBadge>}
        {tool.idempotent && <StatusBadge tone="idle">Idempotent</StatusBadge>}
        {!tool.is_public && <StatusBadge tone="idle">Private</StatusBadge>}
        {limit && (
          <StatusBadge tone="warn" title={`Rate limit: ${describeRateLimit(limit)}`}>
            {`${limit.max_calls} calls per ${limit.period}`}
          </StatusBadge>
        )}
      </Group>
      {tool.description && (
        <Text maw="75ch">
          <ForeignText limit={600}>{tool.description}</ForeignText>
        </Text>
      )}
      <Text size="sm" c="dimmed">
        Version {tool.version}, changed <TimeText isAge>{tool.updated_at}</TimeText>
      </Text>
    </Stack>
  )
}
