import { Alert, Progress, Stack, Text } from '@mantine/core'
import { Icon } from '../../../shared/icons/icon.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { FindingList } from './finding_list.tsx'
import type { Verification } from './use_verification.ts'

const TITLES = {
  running: 'Verifying',
  done: 'Verified',
  cancelled: 'Cancelled',
  failed: 'Stopped by an error',
} as const

interface VerificationProgressProps {
  state: Verification
  retry: () => void
}

/** The verification of this page: how far it is, and what it found. */
export function VerificationProgress({ state, retry }: VerificationProgressProps) {
  const { phase, checked, total, findings, notes, error } = state
  const share = phase === 'done' ? 100 : total ? Math.min(99, (checked / total) * 100) : 0
  return (
    <Stack gap="xs" mt="md">
      <Text size="sm" fw={600} role="status">
        {TITLES[phase]}: {checked.toLocaleString('en')}
        {phase === 'running' && total !== undefined ? ` of about ${total.toLocaleString('en')}` : ''} rows
        {phase === 'done' && findings.length === 0 ? ', all as the board wrote them' : ''}
      </Text>
      <Progress value={share} aria-label="Verified part of the journal" />
      {findings.length > 0 && (
        <Alert
          color="red"
          variant="light"
          icon={<Icon name="alert" />}
          title="The journal is not as the board wrote it"
        >
          <FindingList findings={findings} />
        </Alert>
      )}
      {notes.map((note) => (
        <Text size="sm" c="dimmed" key={note}>
          <ForeignText>{note}</ForeignText>
        </Text>
      ))}
      {phase === 'failed' && <ErrorState error={error} what="The verification" retry={retry} />}
    </Stack>
  )
}
