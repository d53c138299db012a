import { Button, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { FormDialog } from '../../shared/action/form_dialog.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { api, unwrap } from '../../shared/api/client.ts'

/** Creates an agent, and goes on to choose its tools. */
export function NewAgent() {
  const [isOpen, dialog] = useDisclosure()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const navigate = useNavigate()
  const create = useAction({
    run: () =>
      unwrap(
        api.POST('/v1/agents', { body: { name: name.trim(), description: description.trim() || null, tools: [] } }),
      ),
    changes: [['agents']],
    onDone: (agent) => void navigate({ to: '/agents/$id', params: { id: agent.id }, search: { choose: true } }),
  })
  return (
    <>
      <Button size="xs" onClick={dialog.open}>
        New agent
      </Button>
      <FormDialog
        title="New agent"
        isOpen={isOpen}
        onClose={dialog.close}
        action={create}
        submit="Create and choose tools"
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
