import { Stack, Text, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { ApiError } from '../../shared/api/api_error.ts'
import { CallCard } from '../../shared/call_card/call_card.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import type { Inspection, Submitted } from './inspector_query.ts'
import { RunCalls } from './run_calls.tsx'

const MOST = 50

interface FoundCallsProps {
  inspection: UseQueryResult<Inspection>
  submitted: Submitted
  as: string | undefined
  /** Whether the payload was changed since. */
  isOld: boolean
}

/** The dialect and the calls of a payload, or why it cannot be read. */
export function FoundCalls({ inspection, submitted, as, isOld }: FoundCallsProps) {
  const { data, error } = inspection
  const isEmpty = submitted.text.trim() === ''
  return (
    <section aria-label="Calls" aria-busy={isOld || inspection.isFetching}>
      <Stack gap="sm" align="stretch">
        {isEmpty && (
          <Text size="sm" c="dimmed">
            The calls of the payload are listed here.
          </Text>
        )}
        {!isEmpty && inspection.isPending && !error && <ListOutline rows={3} />}
        {error && <Unreadable error={error} retry={() => void inspection.refetch()} />}
        {data && (
          <>
            <Title order={2} aria-live="polite">
              {describe(data)}
            </Title>
            {data.calls.length === 0 && (
              <Text size="sm">It is a message without calls, such as the last one of a conversation.</Text>
            )}
            {data.calls.slice(0, MOST).map((call, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the calls of one payload never move
              <CallCard key={`${submitted.number} ${place}`} call={call} />
            ))}
            {data.calls.length > MOST && <Text size="sm">{data.calls.length - MOST} more calls</Text>}
            <RunCalls key={submitted.number} inspection={data} submitted={submitted} as={as} isOld={isOld} />
          </>
        )}
      </Stack>
    </section>
  )
}

function describe({ calls, dialect }: Inspection): string {
  const count = calls.length === 0 ? 'No call' : calls.length === 1 ? '1 call' : `${calls.length} calls`
  return `${count} in ${dialect}`
}

function Unreadable({ error, retry }: { error: Error; retry: () => void }) {
  const faults = error instanceof ApiError ? error.faults.slice(0, 10) : []
  return (
    <>
      <ErrorState error={error} what="The payload" retry={retry} />
      {faults.length > 0 && (
        <ul>
          {faults.map(({ field, message }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the faults of one answer never move
            <li key={place}>
              <ForeignText isMono limit={200}>
                {field}
              </ForeignText>
              : <ForeignText limit={400}>{message}</ForeignText>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
