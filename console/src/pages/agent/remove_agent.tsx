import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ConfirmDialog } from '../../shared/action/confirm_dialog.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import { isUsable } from '../../shared/keys/key_state.ts'
import { keysQuery } from '../../shared/keys/keys_query.ts'
import { spellHidden } from '../../shared/text/visible_text.ts'
import type { Agent } from '../agents/agents_query.ts'

/** Removes an agent, after it has named what becomes invalid with it. */
export function RemoveAgent({ agent }: { agent: Agent }) {
  const [isOpen, dialog] = useDisclosure()
  const navigate = useNavigate()
  const name = spellHidden(agent.name)
  const keys = useQuery({ ...keysQuery(agent.owner_id), enabled: isOpen }).data
  const bound = keys?.filter((key) => key.agent_id === agent.id && isUsable(key, Date.now())).length
  const remove = useAction({
    run: () => unwrap(api.DELETE('/v1/agents/{agent_id}', { params: { path: { agent_id: agent.id } } })),
    changes: [['agents'], ['keys']],
    onDone: () => {
      notifications.show({ message: `Removed the agent ${name}` })
      void navigate({ to: '/agents' })
    },
  })
  const which =
    bound === undefined ? 'All its keys become' : bound === 1 ? 'Its key becomes' : `Its ${bound} keys become`
  return (
    <>
      <Button size="xs" variant="default" onClick={dialog.open}>
        Remove
      </Button>
      <ConfirmDialog
        title={`Remove the agent ${name}?`}
        effects={[
          ...(bound === 0 ? [] : [`${which} invalid at once, and programs that use them can call no tool.`]),
          'Its tools and the rows of its calls stay.',
        ]}
        submit="Remove the agent"
        isOpen={isOpen}
        onClose={dialog.close}
        action={remove}
      />
    </>
  )
}
