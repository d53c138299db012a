import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../shared/api/client.ts'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import classes from './connect_page.module.css'
import type { ConnectSearch } from './connect_search.ts'

interface ConnectChoicesProps {
  address: string
  mcpAddress: string | undefined
  agents: Schemas['AgentResponse'][]
  tools: string[]
  agent: string | undefined
  tool: string | undefined
  onChange: (next: Partial<ConnectSearch>) => void
}

/** The addresses of the board, and the agent and the tool that the texts are for. */
export function ConnectChoices({ address, mcpAddress, agents, tools, agent, tool, onChange }: ConnectChoicesProps) {
  const options = agents.map(({ name }) => ({ value: name, label: spellHidden(name) }))
  const isUnknown = agent !== undefined && !agents.some(({ name }) => name === agent)
  return (
    <Stack gap="sm">
      <dl className={classes.addresses}>
        <dt>REST</dt>
        <dd>
          <ForeignText isMono>{`${address}/v1`}</ForeignText>
          <CopyText text={`${address}/v1`} label="Copy the address of REST" isIcon />
        </dd>
        {mcpAddress && (
          <>
            <dt>MCP</dt>
            <dd>
              <ForeignText isMono>{mcpAddress}</ForeignText>
              <CopyText text={mcpAddress} label="Copy the address of MCP" isIcon />
            </dd>
          </>
        )}
      </dl>
      <Group gap="sm" align="end">
        <NativeSelect
          label="Which tools"
          value={agent ?? ''}
          data={[
            { value: '', label: 'All tools of the key' },
            ...options.map(({ value, label }) => ({ value, label: `Only those of the agent ${label}` })),
            ...(isUnknown ? [{ value: agent, label: spellHidden(agent) }] : []),
          ]}
          onChange={(event) => onChange({ agent: event.currentTarget.value || undefined, tool: undefined })}
        />
        <NativeSelect
          label="Tool of the examples"
          value={tool ?? ''}
          data={[
            ...(tool === undefined ? [{ value: '', label: 'Choose …' }] : []),
            ...(tool !== undefined && !tools.includes(tool) ? [{ value: tool, label: spellHidden(tool) }] : []),
            ...tools,
          ]}
          onChange={(event) => onChange({ tool: event.currentTarget.value || undefined })}
        />
      </Group>
      {agents.length === 0 && (
        <Text size="sm" c="dimmed">
          Models choose better from fewer tools: an agent is a named selection of tools with an address of its own.
        </Text>
      )}
    </Stack>
  )
}
