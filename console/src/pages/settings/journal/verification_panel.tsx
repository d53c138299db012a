import { Button, Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Icon } from '../../../shared/icons/icon.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { Panel } from '../panel.tsx'
import { LastVerification } from './last_verification.tsx'
import { useVerification } from './use_verification.ts'
import { VerificationProgress } from './verification_progress.tsx'
import { verificationQuery } from './verification_query.ts'

/** When the journal was last verified, and a verification now. */
export function VerificationPanel() {
  const last = useQuery(verificationQuery)
  const { state, start, cancel } = useVerification()
  const isRunning = state?.phase === 'running'
  return (
    <Panel
      title="Was the journal changed?"
      note={
        <>
          Each row is linked to the one before it by a keyed hash. A verification finds rows that were changed, removed
          or added in the database. It is the same as <Code>pegboard audit verify</Code>.
        </>
      }
      actions={
        isRunning ? (
          <Button size="xs" variant="default" leftSection={<Icon name="stop" size={14} />} onClick={cancel}>
            Cancel
          </Button>
        ) : (
          <Button size="xs" leftSection={<Icon name="check" size={14} />} onClick={start}>
            Verify now
          </Button>
        )
      }
    >
      {last.error && <ErrorState error={last.error} what="The last verification" retry={() => void last.refetch()} />}
      {last.isPending && !last.error && <ListOutline rows={2} />}
      {last.data && <LastVerification last={last.data.last} />}
      {state && <VerificationProgress state={state} retry={start} />}
    </Panel>
  )
}
