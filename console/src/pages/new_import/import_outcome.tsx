import { Alert, Anchor, Button, Group, List, Progress, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Icon } from '../../shared/icons/icon.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { ReportList } from './report_list.tsx'
import { countOutcomes, type ImportReport, listRows } from './report_rows.ts'
import type { ImportProgress, ImportRequest } from './send_import.ts'
import type { ImportState } from './use_import.ts'

const STEPS: Record<string, string> = {
  fetching: 'Fetching the document',
  listing: 'Asking the server what it offers',
  reading: 'Reading the document',
  importing: 'Comparing with the tools of the board',
}
const MAX_WARNINGS = 20

interface ImportOutcomeProps {
  state: ImportState
  /** Whether the form has changed since this request was checked. */
  isStale: (request: ImportRequest) => boolean
  onImport: (request: ImportRequest) => void
  onCancel: () => void
}

/** What the import would do, its progress, and what it did. */
export function ImportOutcome({ state, isStale, onImport, onCancel }: ImportOutcomeProps) {
  return (
    <Stack gap="md" mt="lg" aria-live="polite" aria-busy={state.phase === 'running'}>
      {state.phase === 'running' && <Running isDryRun={state.isDryRun} progress={state.progress} onCancel={onCancel} />}
      {state.phase === 'failed' && (
        <ErrorState
          error={state.error}
          what={state.isDryRun ? 'The dry run' : 'The import'}
          {...(!state.isDryRun && { retry: () => onImport(state.request) })}
        />
      )}
      {(state.phase === 'checked' || state.phase === 'imported') && (
        <Report
          key={state.phase}
          report={state.report}
          isDone={state.phase === 'imported'}
          isStale={isStale(state.request)}
          from={state.request.from}
          onImport={() => onImport(state.request)}
        />
      )}
    </Stack>
  )
}

interface RunningProps {
  isDryRun: boolean
  progress: ImportProgress | undefined
  onCancel: () => void
}

function Running({ isDryRun, progress, onCancel }: RunningProps) {
  const { what = '', done = 0, total = 0 } = progress ?? {}
  const label = STEPS[what] ?? (isDryRun ? 'Checking' : 'Importing')
  return (
    <Stack gap="xs" maw={720}>
      <Group justify="space-between">
        <Text size="sm">
          {label}
          {total > 0 && ` (${done.toLocaleString('en')} of ${total.toLocaleString('en')})`}
        </Text>
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </Group>
      <Progress value={total > 0 ? (100 * done) / total : 100} animated={total === 0} aria-label={label} />
    </Stack>
  )
}

interface ReportProps {
  report: ImportReport
  isDone: boolean
  isStale: boolean
  from: ImportRequest['from']
  onImport: () => void
}

function Report({ report, isDone, isStale, from, onImport }: ReportProps) {
  const rows = useMemo(() => listRows(report), [report])
  const counts = countOutcomes(rows)
  const effects = counts.created + counts.updated
  const canImport = effects > 0 || (from === 'mcp' && report.upstream_id === null)
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Title order={2}>{isDone ? 'Imported' : 'What the import would do'}</Title>
        {!isDone && canImport && (
          <Button disabled={isStale} onClick={onImport}>
            {from === 'mcp' && effects === 0 ? 'Import the server' : `Import ${effects.toLocaleString('en')}`}
          </Button>
        )}
        {isDone && (
          <Group gap="md">
            <Anchor
              underline="always"
              size="sm"
              renderRoot={(props) => <Link to="/tools" search={{ sort: 'updated_at' }} {...props} />}
            >
              Its tools
            </Anchor>
            <Anchor
              underline="always"
              size="sm"
              renderRoot={(props) => (
                <Link to="/imports" search={{ open: report.upstream_id ?? undefined }} {...props} />
              )}
            >
              {report.upstream_id ? 'The server' : 'All imports'}
            </Anchor>
          </Group>
        )}
      </Group>
      {!isDone && isStale && <Text size="sm">The form has changed since this dry run; check again.</Text>}
      {!isDone && !canImport && <Text size="sm">There is nothing to import: no tool is new or changed.</Text>}
      {report.drifted.length > 0 && (
        <Text size="sm">
          What the server has changed since it was accepted is not imported:{' '}
          <Anchor
            underline="always"
            size="sm"
            renderRoot={(props) => (
              <Link to="/imports" search={{ tab: 'changes', open: report.upstream_id ?? undefined }} {...props} />
            )}
          >
            review the changes
          </Anchor>
          .
        </Text>
      )}
      {report.warnings.length > 0 && (
        <Alert
          color="yellow"
          variant="light"
          icon={<Icon name="alert" />}
          title={report.warnings.length === 1 ? 'Warning' : `${report.warnings.length} warnings`}
        >
          <List size="sm">
            {report.warnings.slice(0, MAX_WARNINGS).map((warning) => (
              <List.Item key={warning}>
                <ForeignText limit={500}>{warning}</ForeignText>
              </List.Item>
            ))}
          </List>
          {report.warnings.length > MAX_WARNINGS && (
            <Text size="sm">and {report.warnings.length - MAX_WARNINGS} more</Text>
          )}
        </Alert>
      )}
      <ReportList rows={rows} counts={counts} isDone={isDone} />
    </Stack>
  )
}
