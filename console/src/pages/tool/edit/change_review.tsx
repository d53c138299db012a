import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import { offerUndo } from '../../../shared/action/offer_undo.tsx'
import classes from '../../../shared/definition/definition.module.css'
import { hideSecrets } from '../../../shared/definition/hidden_secrets.ts'
import type { DefinitionState } from '../../../shared/definition/use_definition.ts'
import { compareValues } from '../../../shared/difference/compare_values.ts'
import { DifferenceList } from '../../../shared/difference/difference_list.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'

interface ChangeReviewProps {
  state: DefinitionState
  hasBroken: boolean
  canSave: boolean
  isSaving: boolean
  error: Error | null
  onSave: () => void
}

/** What a save would change, and the button that saves it. */
export function ChangeReview({ state, hasBroken, canSave, isSaving, error, onSave }: ChangeReviewProps) {
  const { base, value, text, isChanged, reset, restart } = state
  const compared = useMemo(
    () => compareValues(hideSecrets(base.definition, base.definition), hideSecrets(value ?? {}, base.definition)),
    [base, value],
  )
  const discard = () => {
    reset(base)
    offerUndo({
      message: 'Discarded the changes',
      undo: async () => restart(base, text),
      undone: 'The changes are back',
    })
  }
  return (
    <section className={classes.card} aria-label="Changes">
      <Stack gap="sm">
        <Title order={2}>Changes</Title>
        {!isChanged && (
          <Text size="sm" c="dimmed">
            None. What you change is compared here with version {base.version} before you save it.
          </Text>
        )}
        {isChanged && value === undefined && (
          <Text size="sm">The YAML has a fault; correct it to see the changes.</Text>
        )}
        {hasBroken && <Text size="sm">A field has JSON with a fault; correct it to save.</Text>}
        {isChanged && value !== undefined && (
          <DifferenceList {...compared} before={`Version ${base.version}`} after="Yours" />
        )}
        {error && <ErrorState error={error} what="The change" />}
        <Group gap="xs">
          <Button disabled={!canSave} loading={isSaving} onClick={onSave}>
            Save
          </Button>
          {isChanged && (
            <Button variant="default" onClick={discard}>
              Discard
            </Button>
          )}
        </Group>
      </Stack>
    </section>
  )
}
