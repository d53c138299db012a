import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAction } from '../../shared/action/use_action.ts'
import classes from '../../shared/definition/definition.module.css'
import DefinitionEditor from '../../shared/definition/definition_editor.tsx'
import { registerTool } from '../../shared/definition/definition_requests.ts'
import type { Definition } from '../../shared/definition/definition_values.ts'
import { buildFormParts } from '../../shared/definition/form_parts.ts'
import type { Kind } from '../../shared/definition/kinds_query.ts'
import { useBrokenFields } from '../../shared/definition/use_broken_fields.ts'
import { useDefinition } from '../../shared/definition/use_definition.ts'
import { useDryRun } from '../../shared/definition/use_dry_run.ts'
import type { SchemaNode } from '../../shared/form/schema_node.ts'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'

interface NewDefinitionProps {
  kind: Kind
  schema: SchemaNode
}

/** The definition of a new tool; it begins with the example of its kind. */
export default function NewDefinition({ kind, schema }: NewDefinitionProps) {
  const parts = useMemo(() => buildFormParts(schema, kind.config_schema, kind.name), [schema, kind])
  const key = `new ${kind.name}`
  const example = kind.example ?? { name: '', tool_type: kind.name, config: {}, input_schema: { type: 'object' } }
  const saved = { version: 0, definition: example as Definition }
  const state = useDefinition(key, saved)
  const [hasBroken, onBroken] = useBrokenFields()
  const dryRun = useDryRun(key, hasBroken ? undefined : state.value, (body) => registerTool(body, true))
  const navigate = useNavigate()
  const register = useAction({
    run: () => registerTool(state.value ?? {}, false),
    changes: [['tool-list'], ['tool']],
    onDone: (tool) => {
      state.reset(saved)
      notifications.show({ color: 'green', message: `Registered ${spellHidden(tool.name)}` })
      void navigate({ to: '/tools/$ref', params: { ref: tool.id } })
    },
  })
  const submit = () => {
    if (state.value !== undefined && !hasBroken && !register.isPending) register.mutate()
  }
  return (
    <Stack gap="md">
      <Group gap="xs">
        <StatusBadge tone="idle">{spellHidden(kind.name)}</StatusBadge>
        <Text size="sm">
          <ForeignText limit={300}>{kind.purpose}</ForeignText>
        </Text>
        <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/tools/new" search={{}} {...props} />}>
          Choose another kind
        </Anchor>
      </Group>
      {kind.restriction && (
        <Alert color="yellow" variant="light">
          <ForeignText limit={400}>{kind.restriction}</ForeignText>
        </Alert>
      )}
      <DefinitionEditor parts={parts} state={state} dryRun={dryRun} onBroken={onBroken} onSubmit={submit}>
        <section className={classes.card} aria-label="Registration">
          <Stack gap="sm">
            {register.error && <ErrorState error={register.error} what="The registration" />}
            <Group gap="xs">
              <Button disabled={state.value === undefined || hasBroken} loading={register.isPending} onClick={submit}>
                Register
              </Button>
              {state.isChanged && (
                <Button variant="default" onClick={() => state.reset(saved)}>
                  Start again from the example
                </Button>
              )}
            </Group>
          </Stack>
        </section>
      </DefinitionEditor>
    </Stack>
  )
}
