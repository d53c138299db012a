import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { formatDuration } from '../../../shared/format/numbers.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ResultView } from '../../../shared/result/result_view.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { CallError } from './call_error.tsx'
import { CallRunning } from './call_running.tsx'
import { type CallEnd, type CallState, plainAnswer } from './call_state.ts'

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
  if (state.phase === 'running') {
    return <CallRunning isCancelling={state.isCancelling === true} reported={state.reported} />
  }
  if (state.phase === 'failed') return <ErrorState error={state.error} what="The call" />
  return <Ended state={state} end={state.end} />
}

function Ended({ state, end }: { state: CallState; end: CallEnd }) {
  const answer = plainAnswer(state)
  const isCancelled = end.code === 'cancelled'
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <StatusBadge tone={isCancelled ? 'idle' : end.code === undefined ? 'good' : 'bad'} hasDot>
          {isCancelled ? 'Cancelled' : end.code === undefined ? 'Succeeded' : 'Failed'}
        </StatusBadge>
        <Text size="sm" c="dimmed">
          {formatDuration(end.elapsed)}
        </Text>
        {answer?.fallback && <StatusBadge tone="warn">Answered by its fallback</StatusBadge>}
        <Anchor size="sm" renderRoot={(props) => <Link to="/executions" search={{ open: end.run }} {...props} />}>
          Its row in the journal
        </Anchor>
      </Group>
      {end.code !== undefined && (
        <CallError
          key={end.run}
          code={end.code}
          error={end.error}
          retryAfter={answer?.error_details?.retry_after_ms ?? undefined}
        />
      )}
      {answer?.ignored?.map(({ name, did_you_mean }) => (
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
      {answer && end.code === undefined ? (
        <ResultView value={end.result} raw={end.raw} display={end.display} />
      ) : (
        <ResultView value={end.answer} raw={end.raw} first="json" />
      )}
    </Stack>
  )
}
