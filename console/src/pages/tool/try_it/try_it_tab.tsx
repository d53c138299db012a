import { Group, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Schemas } from '../../../shared/api/client.ts'
import { placeErrors } from '../../../shared/form/field_errors.ts'
import { defaultArguments } from '../../../shared/form/sample_arguments.ts'
import { hasRawNumber } from '../../../shared/json/exact_json.ts'
import { useArguments } from '../../../shared/json/use_arguments.ts'
import { executionQuery } from '../../executions/executions_query.ts'
import { ArgumentsInput } from './arguments_input.tsx'
import { CallActions } from './call_actions.tsx'
import { CallOutcome } from './call_outcome.tsx'
import { plainAnswer } from './call_state.ts'
import { CopyAsMenu } from './copy_as_menu.tsx'
import { FillMenu } from './fill_menu.tsx'
import classes from './try_it.module.css'
import type { useCall } from './use_call.ts'

const route = getRouteApi('/tools/$ref')
const NO_ERRORS = {}

interface TryItTabProps {
  tool: Schemas['ToolResponse']
  /** Of the page, so that a call runs on while another tab is open. */
  call: ReturnType<typeof useCall>
}

/** A form for the arguments of a tool, beside the result of the call. */
export default function TryItTab({ tool, call }: TryItTabProps) {
  const { input, from } = route.useSearch()
  const navigate = route.useNavigate()
  const schema = useMemo(() => forForm(tool.input_schema), [tool.input_schema])
  const initial = useMemo(() => defaultArguments(tool.input_schema), [tool.input_schema])
  const args = useArguments(initial)
  const [dialect, setDialect] = useState('plain')
  const [idempotencyKey, setIdempotencyKey] = useState('')
  useRecordedArguments(from, args.setValue)

  const problems = plainAnswer(call.state)?.error_details?.problems
  const errors = useMemo(() => (problems ? placeErrors(problems) : NO_ERRORS), [problems])
  const canCall = args.value !== undefined && tool.is_active !== false && !tool.is_deleted
  const run = () => {
    if (canCall && call.state.phase !== 'running')
      void call.run({ tool: tool.name, body: args.text.trim() || '{}', idempotencyKey, dialect })
  }
  const mode = input ?? 'form'
  return (
    <div className={classes.columns}>
      <section className={classes.card} aria-label="Arguments">
        <Group justify="space-between" mb="sm" mih={32}>
          <Title order={2}>Arguments</Title>
          <Group gap="xs">
            <FillMenu tool={tool} onFill={args.setValue} />
            <CopyAsMenu tool={tool.name} value={args.value} />
          </Group>
        </Group>
        <ArgumentsInput
          schema={schema}
          args={args}
          errors={errors}
          mode={mode}
          onMode={(next) => void navigate({ search: (all) => ({ ...all, input: next }), replace: true })}
          onSubmit={run}
        />
        <CallActions
          tool={tool}
          canCall={canCall}
          state={call.state}
          dialect={dialect}
          onDialect={setDialect}
          idempotencyKey={idempotencyKey}
          onIdempotencyKey={setIdempotencyKey}
          onCall={run}
          onCancel={() => void call.cancel()}
        />
      </section>
      <section className={classes.card} aria-label="Result">
        <Group mb="sm" mih={32}>
          <Title order={2}>Result</Title>
        </Group>
        <CallOutcome state={call.state} />
      </section>
    </div>
  )
}

/** Return a schema whose numbers are those of JavaScript, which is what a form works with. */
function forForm(schema: unknown): unknown {
  return hasRawNumber(schema) ? JSON.parse(JSON.stringify(schema)) : schema
}

/** Fill in the arguments of the row of the journal that the address names, once. */
function useRecordedArguments(from: string | undefined, fill: (value: unknown) => void): void {
  const row = useQuery({ ...executionQuery(from ?? ''), enabled: from !== undefined })
  const filled = useRef<string>(undefined)
  const recorded = row.data?.arguments
  useEffect(() => {
    if (from === undefined || filled.current === from || recorded === null || recorded === undefined) return
    filled.current = from
    fill(recorded)
  }, [from, recorded, fill])
}
