import { Anchor, Button, Group, Text } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { DialectSelect } from '../../shared/dialect/dialect_select.tsx'
import { UnknownDialect } from '../../shared/dialect/unknown_dialect.tsx'
import { formatBytes } from '../../shared/format/numbers.ts'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { FoundCalls } from './found_calls.tsx'
import classes from './inspector.module.css'
import { inspectionQuery, type Submitted } from './inspector_query.ts'
import type { InspectorSearch } from './inspector_search.ts'
import { placeFault } from './payload_kind.ts'

const CodeEditor = lazy(() => import('../../shared/editor/code_editor.tsx'))

const route = getRouteApi('/conversations/inspector')
const SEND_AFTER_MS = 300
// Longer payloads count against the rate limit of the person, so they are read on request.
const READ_AT_ONCE = 64 * 1024

/** Any payload of a model: its dialect and its calls, and on request their results. */
export function InspectorPage() {
  const { from, as } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<InspectorSearch>) =>
    void navigate({ search: (all) => ({ ...all, ...next }), replace: true, resetScroll: false })
  const [text, setText] = useState('')
  const [sent, setSent] = useState({ number: 0, text: '' })
  const submitted: Submitted = { ...sent, from }
  const submit = (next: string) => setSent((before) => ({ number: before.number + 1, text: next }))
  const submitLater = useDebouncedCallback(submit, SEND_AFTER_MS)
  const type = (next: string) => {
    setText(next)
    if (next.length <= READ_AT_ONCE) submitLater(next)
  }
  const inspection = useQuery(inspectionQuery(submitted))
  const fault = useMemo(() => (inspection.isError ? placeFault(sent.text) : undefined), [inspection.isError, sent.text])
  const faults = useMemo(() => (fault && sent.text === text ? [fault] : []), [fault, sent.text, text])
  const isLong = text.length > READ_AT_ONCE
  return (
    <>
      <Text size="sm" mb={6}>
        <Anchor renderRoot={(props) => <Link to="/conversations" {...props} />}>Conversations</Anchor>
      </Text>
      <PageHeader title="Inspect a payload" />
      <Text size="sm" c="dimmed" maw="75ch" mb="sm">
        Paste a message, a response, a history or a stream of any model, or its text. The board says which dialect it is
        and which calls are in it. Nothing runs until you ask for it, and the payload is not stored.
      </Text>
      <Group gap="sm" align="end" mb="sm">
        <DialectSelect
          size="xs"
          label="Read as"
          ability="parse"
          none="Detect the dialect"
          value={from ?? ''}
          onChange={(name) => change({ from: name || undefined })}
        />
        <DialectSelect
          size="xs"
          label="Answer as"
          ability="render"
          none="The dialect of the payload"
          value={as ?? ''}
          onChange={(name) => change({ as: name || undefined })}
        />
      </Group>
      {from !== undefined && (
        <UnknownDialect wanted={from} ability="parse" onChange={(name) => change({ from: name })} />
      )}
      {as !== undefined && <UnknownDialect wanted={as} ability="render" onChange={(name) => change({ as: name })} />}
      <div className={classes.columns}>
        <section aria-label="Payload">
          <Suspense fallback={<ListOutline rows={4} />}>
            <CodeEditor
              language="payload"
              label="Payload"
              value={text}
              onChange={type}
              onSubmit={() => submit(text)}
              faults={faults}
            />
          </Suspense>
          {fault && (
            <Text size="sm" c="var(--board-bad)" mt={6} role="status">
              Not valid JSON at line {fault.line}, column {fault.column}
            </Text>
          )}
          {isLong && (
            <Group gap="xs" mt="xs">
              <Button size="xs" disabled={sent.text === text} onClick={() => submit(text)}>
                Read the calls
              </Button>
              <Text size="sm">A payload of {formatBytes(text.length)} is read on request.</Text>
            </Group>
          )}
        </section>
        <FoundCalls inspection={inspection} submitted={submitted} as={as} isOld={sent.text !== text} />
      </div>
    </>
  )
}
