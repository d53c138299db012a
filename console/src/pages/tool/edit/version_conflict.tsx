import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { offerUndo } from '../../../shared/action/offer_undo.tsx'
import { type Definition, mergeChanges } from '../../../shared/definition/definition_values.ts'
import { writeYaml } from '../../../shared/definition/definition_yaml.ts'
import { hideSecrets } from '../../../shared/definition/hidden_secrets.ts'
import type { DefinitionState, SavedDefinition } from '../../../shared/definition/use_definition.ts'
import { compareValues } from '../../../shared/difference/compare_values.ts'
import { DifferenceList } from '../../../shared/difference/difference_list.tsx'
import { Icon } from '../../../shared/icons/icon.tsx'

interface VersionConflictProps {
  state: DefinitionState
  latest: SavedDefinition
}

/** A version that another user saved meanwhile, with the choice between it and one's own changes. */
export function VersionConflict({ state, latest }: VersionConflictProps) {
  const { base, value, text, reset, restart } = state
  const compared = useMemo(
    () => compareValues(hideSecrets(base.definition, base.definition), hideSecrets(latest.definition, base.definition)),
    [base, latest],
  )
  const takeTheirs = () => {
    reset(latest)
    offerUndo({
      message: `Took version ${latest.version}, without your changes`,
      undo: async () => restart(base, text),
      undone: 'Your changes are back',
    })
  }
  const keepMine = () => {
    if (value === undefined) return
    restart(latest, writeYaml(mergeChanges(base.definition, value, latest.definition) as Definition))
  }
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<Icon name="alert" />}
      title={`Version ${latest.version} was saved meanwhile; yours is based on version ${base.version}`}
    >
      <Stack gap="sm">
        <Text size="sm">What changed in it:</Text>
        <DifferenceList {...compared} before={`Version ${base.version}`} after={`Version ${latest.version}`} />
        <Text size="sm">
          Your changes can be made to the new version: where both changed the same value, yours is kept, and you see the
          difference before you save.
        </Text>
        <Group gap="xs">
          <Button size="xs" disabled={value === undefined} onClick={keepMine}>
            Make my changes to version {latest.version}
          </Button>
          <Button size="xs" variant="default" onClick={takeTheirs}>
            Take version {latest.version}
          </Button>
        </Group>
        {value === undefined && <Text size="sm">Correct the YAML first to keep your changes.</Text>}
      </Stack>
    </Alert>
  )
}
