import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy } from 'react'
import { ApiError } from '../../shared/api/api_error.ts'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { type PageTab, PageTabs } from '../../shared/tabs/page_tabs.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { AgentHeader } from './agent_header.tsx'
import { agentQuery } from './agent_query.ts'
import type { AgentTab } from './agent_search.ts'
import { namedAgentsQuery } from './named_agents_query.ts'

const ToolsTab = lazy(() => import('./tools/tools_tab.tsx'))
const ModelTab = lazy(() => import('./model_tab.tsx'))
const KeysTab = lazy(() => import('./keys_tab.tsx'))
const CallsTab = lazy(() => import('./calls_tab.tsx'))

const route = getRouteApi('/agents/$id')

/** One agent: its tools, what its model gets, its keys and its calls. */
export function AgentPage() {
  const { id } = route.useParams()
  const { tab } = route.useSearch()
  const agent = useQuery(agentQuery(id))
  if (agent.error && !agent.data) {
    return (
      <Stack gap="md" align="flex-start">
        <ErrorState error={agent.error} what={`The agent ${id}`} retry={() => void agent.refetch()} />
        {agent.error instanceof ApiError && agent.error.status === 404 && <OtherAgents wanted={id} />}
      </Stack>
    )
  }
  if (!agent.data) return <ListOutline rows={4} />
  const tabs: PageTab<AgentTab>[] = [
    { value: 'tools', label: 'Tools', panel: <ToolsTab agent={agent.data} /> },
    { value: 'model', label: 'What the model gets', panel: <ModelTab agent={agent.data} /> },
    { value: 'keys', label: 'Keys', panel: <KeysTab agent={agent.data} /> },
    { value: 'calls', label: 'Calls', panel: <CallsTab agent={agent.data} /> },
  ]
  return (
    <>
      {agent.error && <ErrorState error={agent.error} what="The agent" retry={() => void agent.refetch()} />}
      <AgentHeader agent={agent.data} />
      <PageTabs key={agent.data.id} label="Tabs of the agent" tabs={tabs} open={tab} />
    </>
  )
}

/** Agents whose name is what the address has in place of an id, and the list of all. */
function OtherAgents({ wanted }: { wanted: string }) {
  const named = useQuery(namedAgentsQuery(wanted)).data ?? []
  return (
    <>
      {named.length > 0 && (
        <Group gap="xs">
          <Text size="sm">The address needs the id of an agent. Agents with this name:</Text>
          {named.map(({ id, name }) => (
            <Anchor key={id} size="sm" renderRoot={(props) => <Link to="/agents/$id" params={{ id }} {...props} />}>
              <ForeignText isMono limit={100}>
                {name}
              </ForeignText>
            </Anchor>
          ))}
        </Group>
      )}
      <Button variant="default" size="xs" renderRoot={(props) => <Link to="/agents" {...props} />}>
        All agents
      </Button>
    </>
  )
}
