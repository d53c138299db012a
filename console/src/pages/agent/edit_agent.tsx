import { Button, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { FormDialog } from '../../shared/action/form_dialog.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import type { Agent } from '../agents/agents_query.ts'

/** Changes the name and the description of an agent. */
export function EditAgent({ agent }: { agent: Agent }) {
  const [isOpen, dialog] = useDisclosure()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const save = useAction({
    run: () => {
      const body = { name: name.trim(), description: description.trim() || null }
      return unwrap(api.PATCH('/v1/agents/{agent_id}', { params: { path: { agent_id: agent.id } }, body }))
    },
    changes: [['agent', agent.id], ['agents']],
    onDone: dialog.close,
  })
  const open = () => {
    setName(agent.name)
    setDescription(agent.description ?? '')
    dialog.open()
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Rename
      </Button>
      <FormDialog
        title="Rename the agent"
        isOpen={isOpen}
        onClose={dialog.close}
        action={save}
        submit="Save"
        isReady={name.trim() !== ''}
      >
        <TextInput
          label="Name"
          data-autofocus
          value={name}
          maxLength={255}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          label="Description (optional)"
          value={description}
          maxLength={2000}
          autosize
          minRows={2}
          maxRows={8}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
      </FormDialog>
    </>
  )
}
