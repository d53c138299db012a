import { Stack, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../shared/api/client.ts'
import { StatusBadge, type Tone } from '../../shared/list/status_badge.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import classes from './execution_panel.module.css'

const VERDICTS: Record<string, { tone: Tone; label: string }> = {
  true: { tone: 'good', label: 'As the board wrote it' },
  false: { tone: 'bad', label: 'Changed since the board wrote it' },
  null: { tone: 'idle', label: 'Not known' },
}

function proofQuery(id: string) {
  return queryOptions({
    queryKey: ['proof', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/executions/{execution_id}/proof', { params: { path: { execution_id: id } }, signal })),
  })
}

/** Where a row is in its hash chain, and whether it was changed. */
export default function ProofPart({ id }: { id: string }) {
  const proof = useQuery(proofQuery(id))
  if (proof.error) return <ErrorState error={proof.error} what="The proof" retry={() => void proof.refetch()} />
  if (!proof.data) return <ListOutline rows={2} />
  const { writer, number, mac, is_genuine, findings, note } = proof.data
  const verdict = VERDICTS[String(is_genuine)] as { tone: Tone; label: string }
  return (
    <Stack gap="xs" align="flex-start">
      <StatusBadge tone={verdict.tone} hasDot>
        {verdict.label}
      </StatusBadge>
      {findings.map((finding) => (
        <Text size="sm" key={`${finding.kind} ${finding.message}`}>
          {finding.message}
        </Text>
      ))}
      {note && <Text size="sm">{note}</Text>}
      {writer !== null && (
        <dl className={classes.facts}>
          <dt>Writer</dt>
          <dd>{writer}</dd>
          <dt>Number in its chain</dt>
          <dd>{number}</dd>
          <dt>MAC</dt>
          <dd>
            <ForeignText isMono>{mac}</ForeignText>
          </dd>
        </dl>
      )}
    </Stack>
  )
}
