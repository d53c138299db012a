import { NativeSelect, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../action/form_dialog.tsx'
import { useAction } from '../action/use_action.ts'
import { api, unwrap } from '../api/client.ts'
import { ForeignText } from '../text/foreign_text.tsx'
import { spellHidden } from '../text/visible_text.ts'
import { agentsQuery } from './agents_query.ts'
import { computeExpiry, LIFETIMES } from './key_state.ts'

interface CreateKeyDialogProps {
  userId: string
  userName?: string | undefined
  /** Binds the key to this agent; else the dialog asks for one. */
  agent?: { id: string; name: string }
  isOpen: boolean
  onClose: () => void
  /** Gets the key, which the server does not return again. */
  onCreated: (key: string) => void
}

/** Asks for the name, the expiry and the agent of a new key. */
export function CreateKeyDialog({ userId, userName, agent, isOpen, onClose, onCreated }: CreateKeyDialogProps) {
  const [name, setName] = useState('')
  const [lifetime, setLifetime] = useState<string>('90')
  const [date, setDate] = useState('')
  const [agentId, setAgentId] = useState('')
  const agents = useQuery({ ...agentsQuery, enabled: isOpen && agent === undefined }).data ?? []
  const expiresAt = computeExpiry(lifetime, date, Date.now())
  const create = useAction({
    run: async () => {
      const made = await unwrap(
        api.POST('/v1/users/{user_id}/keys', {
          params: { path: { user_id: userId } },
          body: { name: name.trim(), expires_at: expiresAt ?? null, agent_id: agent?.id ?? (agentId || null) },
        }),
      )
      // Not returned, so that the key is in no cache.
      onCreated(made.key)
    },
    changes: [['keys', userId]],
    onDone: () => {
      setName('')
      onClose()
    },
  })
  const own = agent ? [] : agents.filter((each) => each.owner_id === userId)
  return (
    <FormDialog
      title={userName === undefined ? 'Create a key' : `Create a key for ${spellHidden(userName)}`}
      submit="Create key"
      isOpen={isOpen}
      onClose={onClose}
      action={create}
      isReady={expiresAt !== undefined}
    >
      <TextInput
        label="Name"
        description="Where the key is used, such as “laptop” or “nightly job”"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        autoComplete="off"
        data-autofocus
      />
      <NativeSelect
        label="Expires"
        value={lifetime}
        onChange={(event) => setLifetime(event.currentTarget.value)}
        data={[...LIFETIMES]}
      />
      {lifetime === 'date' && (
        <TextInput
          type="date"
          label="Last day"
          value={date}
          onChange={(event) => setDate(event.currentTarget.value)}
          error={date !== '' && expiresAt === undefined ? 'Choose a day that is not over' : undefined}
        />
      )}
      {agent && (
        <Text size="sm">
          The key can only call the tools of the agent <ForeignText isMono>{agent.name}</ForeignText>, and cannot log in
          here.
        </Text>
      )}
      {own.length > 0 && (
        <NativeSelect
          label="May call"
          description="With an agent, the key can only call the tools of this agent, and cannot log in here"
          value={agentId}
          onChange={(event) => setAgentId(event.currentTarget.value)}
          data={[
            { value: '', label: 'All that the user may call' },
            ...own.map(({ id, name }) => ({ value: id, label: `The tools of ${spellHidden(name)}` })),
          ]}
        />
      )}
    </FormDialog>
  )
}
