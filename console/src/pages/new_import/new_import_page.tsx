import { Anchor, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useMe } from '../../shared/session/use_me.ts'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { CredentialsInput } from './credentials_input.tsx'
import { DocumentInput } from './document_input.tsx'
import { buildMcpBody, buildOpenApiBody, EMPTY_FORM, findMissing, type ImportForm, isSameBody } from './import_form.ts'
import { ImportOptions } from './import_options.tsx'
import { ImportOutcome } from './import_outcome.tsx'
import { DOCUMENT_WAYS, type NewImportSearch, ORIGINS, SERVER_WAYS } from './new_import_search.ts'
import type { ImportRequest } from './send_import.ts'
import { ServerInput } from './server_input.tsx'
import { useImport } from './use_import.ts'

const route = getRouteApi('/imports/new')
const ORIGIN_LABELS = { openapi: 'API document', mcp: 'MCP server' }
const WAY_LABELS = { file: 'File', url: 'Address', text: 'Text', command: 'Command' }

/** Imports an API document or an MCP server: a dry run first, then the import. */
export function NewImportPage() {
  const { from = 'openapi', by: wanted } = route.useSearch()
  const navigate = route.useNavigate()
  const { user } = useMe()
  const [form, setForm] = useState<ImportForm>(EMPTY_FORM)
  const [hasTried, setTried] = useState(false)
  const { state, run, cancel } = useImport()
  const isMcp = from === 'mcp'
  // The server would start the command, so only admins may give one.
  const serverWays = user.role === 'admin' ? SERVER_WAYS : SERVER_WAYS.filter((way) => way !== 'command')
  const ways: readonly NonNullable<NewImportSearch['by']>[] = isMcp ? serverWays : DOCUMENT_WAYS
  const by = ways.find((way) => way === wanted) ?? ways[0] ?? 'url'
  const request: ImportRequest = isMcp
    ? { from: 'mcp', by, body: buildMcpBody(form, by === 'command' ? 'command' : 'url') }
    : { from: 'openapi', by, body: buildOpenApiBody(form, by === 'command' ? 'file' : by) }
  const missing = findMissing(form, by, isMcp)
  const change = (next: Partial<ImportForm>) => setForm((before) => ({ ...before, ...next }))
  const go = (search: NewImportSearch) => void navigate({ search, replace: true })
  const check = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!missing && state.phase !== 'running') void run(request, true)
  }
  return (
    <>
      <PageHeader
        title={isMcp ? 'Import an MCP server' : 'Import an API'}
        aside={
          <Anchor size="sm" renderRoot={(props) => <Link to="/imports" {...props} />}>
            All imports
          </Anchor>
        }
      />
      <form onSubmit={check}>
        <Stack gap="md" maw={720}>
          <Group gap="sm">
            <SegmentedControl
              size="xs"
              aria-label="What is imported"
              data={ORIGINS.map((value) => ({ value, label: ORIGIN_LABELS[value] }))}
              value={from}
              onChange={(next) => go({ from: next as NewImportSearch['from'] })}
            />
            {ways.length > 1 && (
              <SegmentedControl
                size="xs"
                aria-label="How it is given"
                data={ways.map((value) => ({ value, label: WAY_LABELS[value] }))}
                value={by}
                onChange={(next) => go({ from, by: next as NewImportSearch['by'] })}
              />
            )}
          </Group>
          {isMcp ? (
            <ServerInput form={form} by={by === 'command' ? 'command' : 'url'} onChange={change} />
          ) : (
            <DocumentInput form={form} by={by === 'command' ? 'file' : by} onChange={change} />
          )}
          <CredentialsInput form={form} hasTypes={!(isMcp && by === 'command')} onChange={change} />
          <ImportOptions form={form} isMcp={isMcp} onChange={change} />
          <Group gap="sm">
            <Button
              type="submit"
              variant={state.phase === 'checked' ? 'default' : 'filled'}
              loading={state.phase === 'running' && state.isDryRun}
            >
              {state.phase === 'checked' ? 'Check again' : 'Check what it would do'}
            </Button>
            <Text size="sm" c={hasTried && missing ? 'var(--mantine-color-error)' : 'dimmed'} role="status">
              {hasTried && missing ? missing : 'A dry run: nothing is changed yet.'}
            </Text>
          </Group>
        </Stack>
      </form>
      <ImportOutcome
        state={state}
        isStale={(shown) => shown.from !== from || !isSameBody(shown.body, request.body)}
        onImport={(checked) => void run(checked, false)}
        onCancel={cancel}
      />
    </>
  )
}
