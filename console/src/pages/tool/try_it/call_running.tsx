import { Progress, Stack, Text } from '@mantine/core'
import { LongText } from '../../../shared/result/long_text.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import type { CallProgress } from './call_state.ts'

interface CallRunningProps {
  isCancelling: boolean
  reported: CallProgress | undefined
}

/** How far a running call is, and its output so far. */
export function CallRunning({ isCancelling, reported }: CallRunningProps) {
  const { progress, total, message, partial, dropped } = reported ?? { partial: '', dropped: 0 }
  const isMeasured = progress !== undefined && total !== undefined && total > 0
  return (
    <Stack gap="xs">
      <Text size="sm">
        {isCancelling ? 'Cancelling' : 'Running'}
        {progress !== undefined && `: ${progress}${total === undefined ? '' : ` of ${total}`}`}
      </Text>
      {isMeasured && <Progress value={(100 * progress) / total} size="sm" aria-label="Progress of the call" />}
      {message && (
        <Text size="sm" c="dimmed">
          <ForeignText limit={300}>{message}</ForeignText>
        </Text>
      )}
      {dropped > 0 && <Text size="sm">The first {dropped.toLocaleString('en')} characters are not shown.</Text>}
      {partial && <LongText text={partial} label="Output so far" fileName="output.txt" />}
    </Stack>
  )
}
