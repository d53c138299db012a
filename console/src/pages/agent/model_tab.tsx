import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Schemas } from '../../shared/api/client.ts'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { saveFile } from '../../shared/copy/save_file.ts'
import { writeDeclaration } from '../../shared/declaration/declaration_text.ts'
import { type Finding, FindingList } from '../../shared/declaration/finding_list.tsx'
import { DialectSelect } from '../../shared/dialect/dialect_select.tsx'
import { dialectsQuery } from '../../shared/dialect/dialects_query.ts'
import { findDialect } from '../../shared/dialect/find_dialect.ts'
import { UnknownDialect } from '../../shared/dialect/unknown_dialect.tsx'
import { Icon } from '../../shared/icons/icon.tsx'
import { LongText } from '../../shared/result/long_text.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import type { Agent } from '../agents/agents_query.ts'
import { agentLintQuery, declarationsQuery } from './agent_query.ts'
import type { AgentSearch } from './agent_search.ts'

const route = getRouteApi('/agents/$id')
const FIRST = 'openai_chat'

/** The declarations that the model of an agent gets, in any dialect, with their tokens and faults. */
export default function ModelTab({ agent }: { agent: Agent }) {
  const { as = FIRST, strict = false } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<AgentSearch>) =>
    void navigate({ search: (all) => ({ ...all, ...next }), replace: true, resetScroll: false })
  const dialects = useQuery(dialectsQuery)
  const dialect = dialects.data && findDialect(dialects.data, as, 'define')
  return (
    <Stack gap="md">
      <Group gap="md" align="end">
        <DialectSelect label="Dialect" ability="define" value={as} onChange={(name) => change({ as: name })} />
        <Checkbox
          label="Strict, where the dialect and the schema allow it"
          checked={strict}
          onChange={(event) => change({ strict: event.currentTarget.checked || undefined })}
          mb={8}
        />
      </Group>
      {dialects.error && (
        <ErrorState error={dialects.error} what="The list of dialects" retry={() => void dialects.refetch()} />
      )}
      <UnknownDialect wanted={as} ability="define" onChange={(name) => change({ as: name })} />
      {dialect !== undefined && <Declarations agent={agent} dialect={dialect} isStrict={strict} />}
    </Stack>
  )
}

interface DeclarationsProps {
  agent: Agent
  dialect: string
  isStrict: boolean
}

function Declarations({ agent, dialect, isStrict }: DeclarationsProps) {
  const declared = useQuery(declarationsQuery(agent.id, dialect, isStrict))
  const lint = useQuery(agentLintQuery(agent.id, dialect))
  const text = useMemo(
    () => (declared.data === undefined ? undefined : writeDeclaration(declared.data)),
    [declared.data],
  )
  const provider = lint.data?.providers[0]
  if (declared.error) {
    return <ErrorState error={declared.error} what="The declarations" retry={() => void declared.refetch()} />
  }
  if (text === undefined) return <ListOutline rows={6} />
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {provider && `${provider.tools.length} of ${agent.tools.length} tools, about `}
          {provider && (
            <strong>{(provider.tools.length === 0 ? 0 : provider.tokens).toLocaleString('en')} tokens</strong>
          )}
          {provider && provider.tools.length < agent.tools.length && '; inactive and deleted tools are not declared'}
        </Text>
        <Group gap="xs">
          <CopyText text={text} label="Copy" />
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="download" size={14} />}
            onClick={() => saveFile([text], `${dialect}.json`)}
          >
            Download
          </Button>
        </Group>
      </Group>
      {lint.error && <ErrorState error={lint.error} what="The tokens" retry={() => void lint.refetch()} />}
      {provider && <FindingList findings={listFindings(provider)} />}
      <LongText key={`${dialect} ${isStrict}`} text={text} label="Declarations" fileName={`${dialect}.json`} />
      {lint.data && (
        <Text size="xs" c="dimmed">
          {lint.data.counted}.
        </Text>
      )}
    </>
  )
}

/** Return what is wrong with all tools together, and with each of them. */
function listFindings({ findings, tools }: Schemas['LintedProvider']): Finding[] {
  return [...findings, ...tools.flatMap(({ tool, findings: own }) => own.map((finding) => ({ tool, ...finding })))]
}
