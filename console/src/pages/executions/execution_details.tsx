import { Alert, Code, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatDuration } from '../../shared/format/numbers.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { LongText } from '../../shared/result/long_text.tsx'
import { ResultView } from '../../shared/result/result_view.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import { codesQuery } from '../../shared/tool/codes_query.ts'
import { ExecutionActions, type PartChoice } from './execution_actions.tsx'
import { ExecutionFacts } from './execution_facts.tsx'
import type { Execution } from './executions_query.ts'
import { findLimitEnd } from './limit_end.ts'

/** Why a row ended as it did, and what went in and came out. */
export function ExecutionDetails({ row, part, onPart }: { row: Execution } & PartChoice) {
  const limitEnd = findLimitEnd(row)
  const explanation = useQuery(codesQuery).data?.get(row.code ?? '')
  return (
    <>
      {row.error && (
        <Alert
          color="red"
          variant="light"
          icon={<Icon name="alert" />}
          title={explanation?.meaning ?? 'The call failed'}
        >
          <Stack gap={6}>
            <Text size="sm">
              <ForeignText limit={4000}>{row.error}</ForeignText>
            </Text>
            {explanation && <Text size="sm">{explanation.remedy}</Text>}
            {limitEnd !== undefined && (
              <Text size="sm">
                The rate limit allowed the next call at <TimeText>{limitEnd}</TimeText>.
              </Text>
            )}
            {row.code && (
              <Text size="xs">
                Code <Code>{row.code}</Code>
              </Text>
            )}
          </Stack>
        </Alert>
      )}
      <ExecutionFacts row={row} />
      <ExecutionActions row={row} part={part} onPart={onPart} />
      <Part title="Arguments">
        {row.arguments === null || row.arguments === undefined ? (
          <NotKept what="arguments" setting="keep_arguments" />
        ) : (
          <ResultView value={row.arguments} />
        )}
      </Part>
      {row.status === 'succeeded' && (
        <Part title="Result">
          {row.result === null || row.result === undefined ? (
            <NotKept what="result" setting="keep_result" />
          ) : (
            <ResultView value={row.result} />
          )}
        </Part>
      )}
      {row.tries && row.tries.length > 0 && (
        <Part title="Failed attempts">
          {(row.tries as { attempt: number; code: string; error: string; elapsed_ms: number }[]).map((each) => (
            <Text size="sm" key={each.attempt}>
              {each.attempt}. <Code>{each.code}</Code> after {formatDuration(each.elapsed_ms)}:{' '}
              <ForeignText limit={400}>{each.error}</ForeignText>
            </Text>
          ))}
        </Part>
      )}
      {row.printed && (
        <Part title="Printed output">
          <LongText text={row.printed} label="Printed output" fileName="printed.txt" />
        </Part>
      )}
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap={6}>
      <Title order={3} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  )
}

function NotKept({ what, setting }: { what: string; setting: string }) {
  return (
    <Text size="sm" c="dimmed">
      The journal has no {what} of this call; the tool's <Code>{setting}</Code> decides.
    </Text>
  )
}
