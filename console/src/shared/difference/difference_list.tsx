import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { StatusBadge, type Tone } from '../list/status_badge.tsx'
import { ForeignText } from '../text/foreign_text.tsx'
import type { Difference } from './compare_values.ts'
import classes from './difference.module.css'
import { DifferenceValue } from './difference_value.tsx'
import { TextDifference } from './text_difference.tsx'

const FIRST = 20
// A shorter text can be compared at a glance.
const LONG_TEXT = 60

const CHANGES: Record<Difference['change'], { label: string; tone: Tone }> = {
  added: { label: 'Added', tone: 'good' },
  removed: { label: 'Removed', tone: 'bad' },
  changed: { label: 'Changed', tone: 'warn' },
}

interface DifferenceListProps {
  differences: Difference[]
  /** Whether there are more differences than these. */
  isCut: boolean
  /** What the two values are called. */
  before?: string
  after?: string
}

/** The differences of two values, field by field; says in words what was added, removed and changed. */
export function DifferenceList({ differences, isCut, before = 'Before', after = 'After' }: DifferenceListProps) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? differences : differences.slice(0, FIRST)
  return (
    <>
      <ul className={classes.list} aria-label="Differences">
        {shown.map((each, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a path may occur twice, because long paths are cut
          <li key={place}>
            <div className={classes.where}>
              <StatusBadge tone={CHANGES[each.change].tone}>{CHANGES[each.change].label}</StatusBadge>
              <ForeignText isMono limit={200}>
                {each.path || 'the whole value'}
              </ForeignText>
            </div>
            {isLongText(each) ? (
              <TextDifference before={each.before as string} after={each.after as string} />
            ) : (
              <dl className={classes.values}>
                {each.change !== 'added' && <DifferenceValue label={before} value={each.before} />}
                {each.change !== 'removed' && <DifferenceValue label={after} value={each.after} />}
              </dl>
            )}
          </li>
        ))}
      </ul>
      {shown.length < differences.length && (
        <Button size="xs" variant="default" onClick={() => setWhole(true)}>
          Show all {differences.length}
        </Button>
      )}
      {isCut && (
        <Text size="sm" c="dimmed">
          There are more differences.
        </Text>
      )}
    </>
  )
}

function isLongText({ change, before, after }: Difference): boolean {
  if (change !== 'changed' || typeof before !== 'string' || typeof after !== 'string') return false
  return Math.max(before.length, after.length) > LONG_TEXT || before.includes('\n') || after.includes('\n')
}
