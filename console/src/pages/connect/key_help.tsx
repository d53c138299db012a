import { Anchor, Code, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { quoteShell } from '../../shared/snippets/quote.ts'

interface KeyHelpProps {
  agent: string | undefined
  hasKey: boolean
}

/** Which key to use; no key is on this page. */
export function KeyHelp({ agent, hasKey }: KeyHelpProps) {
  if (!hasKey) return null
  const command = agent === undefined ? 'pegboard keys create' : `pegboard keys create --agent ${quoteShell(agent)}`
  return (
    <section aria-label="Key">
      <Title order={2} mb={6}>
        Which key
      </Title>
      <Stack gap="xs">
        <Text size="sm">
          {agent === undefined
            ? 'A key acts as you, with all that you may do. For a program, a key that is bound to an agent is safer: it can only call the tools of the agent.'
            : 'Use a key that is bound to this agent: it can only call the tools of the agent, at any address of the board.'}{' '}
          No key is on this page or in the texts.
        </Text>
        <Group gap="xs">
          <Anchor
            size="sm"
            underline="always"
            renderRoot={(props) => <Link to="/settings/$section" params={{ section: 'account' }} {...props} />}
          >
            Create a key
          </Anchor>
          <Text size="sm">or run</Text>
          <Code>{command}</Code>
          <CopyText text={command} label="Copy the command" isIcon />
        </Group>
      </Stack>
    </section>
  )
}
