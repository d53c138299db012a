import { Anchor, Group, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ActionButton } from '../../shared/action/action_button.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { compareValues } from '../../shared/difference/compare_values.ts'
import { DifferenceList } from '../../shared/difference/difference_list.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import type { Change } from './changes.ts'
import classes from './imports_page.module.css'
import { SOURCE_QUERIES } from './imports_query.ts'

interface ChangeItemProps {
  change: Change
  accept: () => Promise<void>
  hasButton: boolean
  onAccepted: () => void
}

/** One changed tool, prompt or resource: its fields before and after. */
export function ChangeItem({ change, accept, hasButton, onAccepted }: ChangeItemProps) {
  const { kind, name, before, after, isGone } = change
  const { differences, isCut } = useMemo(() => compareValues(before, after), [before, after])
  const action = useAction({
    run: accept,
    changes: [...SOURCE_QUERIES, ['tool-list'], ['tool']],
    onDone: onAccepted,
  })
  return (
    <article className={classes.change} aria-label={`${kind} ${spellHidden(name)}`}>
      <Group justify="space-between" gap="xs" mb="xs">
        <Group gap="xs">
          <StatusBadge tone="idle">{kind}</StatusBadge>
          <Title order={3} size="h5">
            {kind === 'tool' ? (
              <Anchor inherit renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: name }} {...props} />}>
                <ForeignText isMono limit={200}>
                  {name}
                </ForeignText>
              </Anchor>
            ) : (
              <ForeignText isMono limit={200}>
                {name}
              </ForeignText>
            )}
          </Title>
        </Group>
        {hasButton && (
          <ActionButton action={action} what={`Accepting ${name}`} size="xs" variant="default">
            {isGone ? 'Forget' : 'Accept'}
          </ActionButton>
        )}
      </Group>
      {isGone ? (
        <Text size="sm">The server no longer lists it. If you accept that, the board forgets it.</Text>
      ) : (
        <DifferenceList differences={differences} isCut={isCut} before="Accepted" after="Server now" />
      )}
    </article>
  )
}
