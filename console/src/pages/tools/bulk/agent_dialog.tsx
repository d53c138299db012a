import { NativeSelect, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../../../shared/action/form_dialog.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { addToAgent, type Tool } from './bulk_requests.ts'
import { countTools } from './use_bulk.ts'

const MOST = 200

interface AgentDialogProps {
  tools: readonly Tool[]
  onClose: () => void
  onDone: () => void
}

/** Asks which agent gets the selected tools. */
export default function AgentDialog({ tools, onClose, onDone }: AgentDialogProps) {
  const [agentId, setAgentId] = useState('')
  const agents = useQuery({
    queryKey: ['agents', 'choice'],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/agents', { params: { query: { limit: MOST } }, signal })),
  })
  const add = useAction({
    run: () => addToAgent(agentId, tools),
    changes: [['agents'], ['agent']],
    onDone: (agent) => {
      notifications.show({ message: `Put ${countTools(tools.length)} on ${spellHidden(agent.name)}` })
      onDone()
    },
  })
  const items = agents.data?.items ?? []
  return (
    <FormDialog
      title={`Put ${countTools(tools.length)} on an agent`}
      isOpen
      onClose={onClose}
      submit="Put on the agent"
      isReady={agentId !== ''}
      action={add}
    >
      {agents.error && <ErrorState error={agents.error} what="The list of agents" />}
      {agents.data && items.length === 0 && (
        <Text size="sm">
          There is no agent yet. Create one with <code>pegboard agents create NAME</code>.
        </Text>
      )}
      {items.length > 0 && (
        <NativeSelect
          label="Agent"
          data-autofocus
          value={agentId}
          onChange={(event) => setAgentId(event.currentTarget.value)}
          data={[
            { value: '', label: 'Choose an agent' },
            ...items.map(({ id, name }) => ({ value: id, label: spellHidden(name) })),
          ]}
        />
      )}
      {agents.data?.next_cursor && (
        <Text size="xs" c="dimmed">
          The first {MOST} agents.
        </Text>
      )}
    </FormDialog>
  )
}
