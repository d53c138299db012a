import { Group, Stack, Text } from '@mantine/core'
import { formatDuration } from '../../../shared/format/numbers.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ResultView } from '../../../shared/result/result_view.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { CallError } from './call_error.tsx'
import type { CallState } from './use_call.ts'

/** How the call ended: its result, or why there is none. */
export function CallOutcome({ state }: { state: CallState }) {
  return (
    <div aria-live="polite" aria-busy={state.phase === 'running'}>
      <Outcome state={state} />
    </div>
  )
}

function Outcome({ state }: { state: CallState }) {
  if (state.phase === 'idle') {
    return (
      <Text size="sm" c="dimmed">
        Not called yet. The call is recorded in the journal like any other.
      </Text>
    )
  }
  if (state.phase === 'running') return <Text size="sm">Running</Text>
  if (state.phase === 'cancelled') return <Text size="sm">Cancelled. The journal says how far it came.</Text>
  if (state.phase === 'failed') return <ErrorState error={state.error} what="The call" />
  const { answer, raw } = state
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <StatusBadge tone={answer.success ? 'good' : 'bad'} hasDot>
          {answer.success ? 'Succeeded' : 'Failed'}
        </StatusBadge>
        <Text size="sm" c="dimmed">
          {formatDuration(Number(answer.execution_time_ms))}
        </Text>
        {answer.fallback && <StatusBadge tone="warn">Answered by its fallback</StatusBadge>}
      </Group>
      {!answer.success && <CallError answer={answer} />}
      {answer.ignored?.map(({ name, did_you_mean }) => (
        <Text size="sm" key={name}>
          The argument <ForeignText isMono>{name}</ForeignText> is not declared, and was ignored.
          {did_you_mean && (
            <>
              {' Did you mean '}
              <ForeignText isMono>{did_you_mean}</ForeignText>?
            </>
          )}
        </Text>
      ))}
      {answer.success ? (
        <ResultView value={answer.result} raw={raw} />
      ) : (
        <ResultView value={answer} raw={raw} first="json" />
      )}
    </Stack>
  )
}
