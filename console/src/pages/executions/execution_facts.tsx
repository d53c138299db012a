import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { formatDuration } from '../../shared/format/numbers.ts'
import { useMe } from '../../shared/session/use_me.ts'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import classes from './execution_panel.module.css'
import type { Execution } from './executions_query.ts'
import type { ExecutionsSearch } from './executions_search.ts'

/** Who made a call, when, through what, and what belongs to it. */
export function ExecutionFacts({ row }: { row: Execution }) {
  return (
    <dl className={classes.facts}>
      <Fact name="Started">
        <TimeText>{row.started_at}</TimeText>
      </Fact>
      <Fact name="Duration">{formatDuration(row.elapsed_ms)}</Fact>
      <Fact name="Attempts">{row.attempts}</Fact>
      <Fact name="Caller">
        <ForeignText isMono>{row.caller}</ForeignText>
      </Fact>
      <Fact name="Surface">
        {row.surface}, {row.dialect}
      </Fact>
      <Fact name="Tool">
        {row.kind}
        {row.tool_version !== null && `, version ${row.tool_version}`}
      </Fact>
      <Related name="Request" value={row.request_id} filter="request_id" />
      <Related name="Chain" value={row.chain_id} filter="chain" />
      <Related name="Thread" value={row.thread_id} filter="thread" />
      <Related name="Agent" value={row.agent_id} filter="agent" />
      <Pages row={row} />
      {row.repeat_of && (
        <Fact name="Repeat of">
          <Anchor
            size="sm"
            ff="monospace"
            renderRoot={(props) => (
              <Link to="/executions" search={(all) => ({ ...all, open: row.repeat_of ?? undefined })} {...props} />
            )}
          >
            {row.repeat_of}
          </Anchor>
        </Fact>
      )}
      <Fact name="Id">
        <ForeignText isMono>{row.id}</ForeignText> <CopyText text={row.id} label="Copy id" isIcon />
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

/** The pages of the conversation and the agent of a call; a conversation is visible to its owner only. */
function Pages({ row }: { row: Execution }) {
  const { user } = useMe()
  const thread = row.caller_id === user.id ? row.thread_id : null
  const agent = row.agent_id
  if (!thread && !agent) return null
  return (
    <Fact name="Open">
      {thread && (
        <Anchor
          size="sm"
          mr="sm"
          renderRoot={(props) => <Link to="/conversations/$id" params={{ id: thread }} {...props} />}
        >
          Its conversation
        </Anchor>
      )}
      {agent && (
        <Anchor size="sm" renderRoot={(props) => <Link to="/agents/$id" params={{ id: agent }} {...props} />}>
          Its agent
        </Anchor>
      )}
    </Fact>
  )
}

interface RelatedProps {
  name: string
  value: string | null
  filter: keyof ExecutionsSearch
}

/** An id that other rows may have too, as a link to them. */
function Related({ name, value, filter }: RelatedProps) {
  if (!value) return null
  return (
    <Fact name={name}>
      <Anchor
        size="sm"
        ff="monospace"
        renderRoot={(props) => <Link to="/executions" search={{ [filter]: value }} {...props} />}
      >
        {value}
      </Anchor>
    </Fact>
  )
}
