import { Anchor, Button, Checkbox, Group, List, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ActionButton } from '../../shared/action/action_button.tsx'
import { FormDialog } from '../../shared/action/form_dialog.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import { listChanges } from './changes.ts'
import { type CheckReport, changesQuery, checkUpstream, SOURCE_QUERIES, type UpstreamDetails } from './imports_query.ts'

interface UpstreamActionsProps {
  upstream: UpstreamDetails
  onRemoved: () => void
}

/** Checks a server, adds what is new, and removes it. */
export function UpstreamActions({ upstream, onRemoved }: UpstreamActionsProps) {
  const { id, name, counts } = upstream
  const queryClient = useQueryClient()
  const [report, setReport] = useState<CheckReport>()
  const [isRemoving, setRemoving] = useState(false)
  const [hasTools, setTools] = useState(false)
  const path = { upstream_id: id }
  const check = useAction({
    run: () => checkUpstream(id),
    changes: SOURCE_QUERIES,
    onDone: (found) => {
      queryClient.setQueryData(changesQuery(id).queryKey, found)
      setReport(found)
    },
  })
  const add = useAction({
    run: () => unwrap(api.POST('/v1/upstreams/{upstream_id}/import', { params: { path } })),
    changes: [...SOURCE_QUERIES, ['tool-list']],
    onDone: setReport,
  })
  const remove = useAction({
    run: () => unwrap(api.DELETE('/v1/upstreams/{upstream_id}', { params: { path, query: { tools: hasTools } } })),
    changes: [['upstream-list'], ['upstreams'], ['import-documents'], ['drifted-tools'], ['tool-list']],
    onDone: onRemoved,
  })
  const entries = counts.prompts + counts.resources + counts.resource_templates
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <ActionButton action={check} what={`The check of ${name}`} variant="default" size="xs">
          Check now
        </ActionButton>
        <Button variant="default" size="xs" onClick={() => setRemoving(true)}>
          Remove
        </Button>
      </Group>
      <div aria-live="polite">{report && <CheckResult report={report} />}</div>
      {report && report.created.length > 0 && !add.isSuccess && (
        <Group>
          <ActionButton action={add} what="The import" size="xs">
            {`Add ${count(report.created.length, 'new tool')}`}
          </ActionButton>
        </Group>
      )}
      {add.isSuccess && <Text size="sm">Added {count(add.data.created.length, 'tool')}.</Text>}
      <FormDialog
        title={`Remove the MCP server ${name}?`}
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        action={remove}
        submit="Remove server"
        isDanger
      >
        <List size="sm" spacing={4}>
          <List.Item>The board forgets its address and its credentials, and closes its session.</List.Item>
          {entries > 0 && (
            <List.Item>{`${count(entries, 'prompt, resource or template', 'prompts, resources and templates')} ${
              entries === 1 ? 'is' : 'are'
            } no longer offered.`}</List.Item>
          )}
          <List.Item>
            {hasTools
              ? `${count(counts.tools, 'tool')} will be deleted; Tools lists them under Deleted, where they can be restored.`
              : `${count(counts.tools, 'tool')} will stay, with credentials of their own, and can be called.`}
          </List.Item>
        </List>
        <Checkbox
          label={`Also delete its ${count(counts.tools, 'tool')}`}
          checked={hasTools}
          onChange={(event) => setTools(event.currentTarget.checked)}
        />
        <Text size="sm" fw={600}>
          The server itself cannot be restored; import it again if you need it.
        </Text>
      </FormDialog>
    </Stack>
  )
}

function CheckResult({ report }: { report: CheckReport }) {
  const changes = listChanges(report).length
  const parts = [
    ...(report.created.length > 0 ? [`${count(report.created.length, 'new tool')}`] : []),
    ...(report.gone.length > 0 ? [`${count(report.gone.length, 'tool')} no longer offered`] : []),
  ]
  if (changes === 0 && parts.length === 0) return <Text size="sm">Checked: it offers what was accepted.</Text>
  return (
    <Text size="sm">
      Checked: {parts.join(', ')}
      {parts.length > 0 && changes > 0 && ', '}
      {changes > 0 && (
        <Anchor
          size="sm"
          underline="always"
          renderRoot={(props) => (
            <Link to="/imports" search={{ tab: 'changes', open: report.upstream_id ?? undefined }} {...props} />
          )}
        >
          {count(changes, 'change')} to accept
        </Anchor>
      )}
      .
    </Text>
  )
}

function count(number: number, word: string, words = `${word}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? word : words}`
}
