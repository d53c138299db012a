import { Text } from '@mantine/core'
import type { Schemas } from '../../../shared/api/client.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import classes from '../panel.module.css'
import { describeFindings } from './finding_words.ts'

/** The last verification of the whole journal, by any admin. */
export function LastVerification({ last }: { last: Schemas['LastVerificationResponse'] | null }) {
  if (last === null) {
    return (
      <Text size="sm" c="dimmed">
        The whole journal has not been verified yet.
      </Text>
    )
  }
  const isGenuine = Object.keys(last.findings).length === 0
  return (
    <dl className={classes.list}>
      <dt>Last verified</dt>
      <dd>
        <TimeText>{last.finished_at}</TimeText> by <ForeignText isMono>{last.caller}</ForeignText>
      </dd>
      <dt>Rows</dt>
      <dd>{last.checked.toLocaleString('en')}</dd>
      <dt>Found</dt>
      <dd>
        <StatusBadge tone={isGenuine ? 'good' : 'bad'} hasDot>
          {isGenuine ? 'As the board wrote it' : describeFindings(last.findings)}
        </StatusBadge>
      </dd>
    </dl>
  )
}
