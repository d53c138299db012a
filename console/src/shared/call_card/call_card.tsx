import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { formatDuration } from '../format/numbers.ts'
import { StatusBadge, type Tone } from '../list/status_badge.tsx'
import { LongText } from '../result/long_text.tsx'
import { ResultView } from '../result/result_view.tsx'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './call_card.module.css'
import type { CallProblem, StoredCall } from './stored_call.ts'

const OUTCOMES: Record<StoredCall['outcome'], { tone: Tone; label: string }> = {
  succeeded: { tone: 'good', label: 'Succeeded' },
  failed: { tone: 'bad', label: 'Failed' },
  open: { tone: 'idle', label: 'No result' },
  elsewhere: { tone: 'idle', label: 'Run by the provider' },
}
const LINE = 240

/** One call: its tool, how it ended, and on request its arguments and result. */
export function CallCard({ call }: { call: StoredCall }) {
  const [isOpen, setOpen] = useState(false)
  const { tone, label } = OUTCOMES[call.outcome]
  const line = useMemo(() => call.rawArguments ?? JSON.stringify(call.arguments) ?? '', [call])
  return (
    <div className={classes.card}>
      <Group gap="xs">
        {call.name === undefined ? (
          <Text size="sm">A call without a name</Text>
        ) : (
          <Anchor
            size="sm"
            fw={600}
            renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: call.name ?? '' }} {...props} />}
          >
            <ForeignText isMono limit={120}>
              {call.name}
            </ForeignText>
          </Anchor>
        )}
        {call.problem ? (
          <StatusBadge tone="warn" hasDot>
            Would be refused
          </StatusBadge>
        ) : (
          <StatusBadge tone={tone} hasDot>
            {label}
          </StatusBadge>
        )}
        {call.hasInvalidResult && (
          <StatusBadge tone="warn" title="The result does not match the tool's output_schema">
            Invalid result
          </StatusBadge>
        )}
        {call.attempts !== undefined && call.attempts > 1 && (
          <StatusBadge tone="warn">{`${call.attempts} attempts`}</StatusBadge>
        )}
        {call.duration !== undefined && (
          <Text size="sm" c="dimmed">
            {formatDuration(call.duration)}
          </Text>
        )}
        {call.run && (
          <Anchor size="sm" renderRoot={(props) => <Link to="/executions" search={{ open: call.run }} {...props} />}>
            Its row in Executions
          </Anchor>
        )}
      </Group>
      {call.error !== undefined && !call.problem && (
        <Text size="sm" c="var(--board-bad)">
          {call.code && <code>{call.code}: </code>}
          <ForeignText limit={1000}>{call.error}</ForeignText>
        </Text>
      )}
      {call.problem && <Problem problem={call.problem} />}
      {!isOpen && line !== '' && (
        <Text size="sm" c="dimmed" component="div">
          <ForeignText isMono limit={LINE}>
            {line}
          </ForeignText>
        </Text>
      )}
      {isOpen && <CallValues call={call} />}
      <div>
        <Button size="compact-xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide the values' : call.outcome === 'succeeded' ? 'Arguments and result' : 'Arguments'}
        </Button>
      </div>
    </div>
  )
}

function Problem({ problem }: { problem: CallProblem }) {
  if (problem.fields.length === 0) {
    return (
      <Text size="sm" c="var(--board-bad)">
        <ForeignText limit={1000}>{problem.message}</ForeignText>
      </Text>
    )
  }
  return (
    <ul className={classes.fields}>
      {problem.fields.map(({ field, message }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the problems of one call never move
        <li key={place}>
          <ForeignText isMono limit={200}>
            {field}
          </ForeignText>
          : <ForeignText limit={600}>{message}</ForeignText>
        </li>
      ))}
    </ul>
  )
}

function CallValues({ call }: { call: StoredCall }) {
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        Arguments
      </Text>
      {call.rawArguments === undefined ? (
        <ResultView value={call.arguments} first="json" />
      ) : (
        <>
          <Text size="sm">They are not valid JSON:</Text>
          <LongText text={call.rawArguments} label="Arguments as text" fileName="arguments.txt" />
        </>
      )}
      {call.outcome === 'succeeded' && (
        <>
          <Text size="sm" fw={600}>
            Result
          </Text>
          <ResultView value={call.result} />
        </>
      )}
      {call.id && (
        <Text size="xs" c="dimmed">
          Id of the call <ForeignText isMono>{call.id}</ForeignText>
        </Text>
      )}
    </Stack>
  )
}
