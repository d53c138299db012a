import { NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { boardAddress } from '../../shared/api/base_path.ts'
import { sampleArguments } from '../../shared/form/sample_arguments.ts'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { ConnectChoices } from './connect_choices.tsx'
import classes from './connect_page.module.css'
import { agentsQuery, connectQuery, exampleToolQuery, exampleToolsQuery } from './connect_query.ts'
import type { ConnectSearch } from './connect_search.ts'
import { KeyHelp } from './key_help.tsx'
import { SelfTestPart } from './self_test_part.tsx'
import { SnippetPart } from './snippet_part.tsx'
import { WayList } from './way_list.tsx'
import { chooseTool, listWays } from './ways.ts'

const route = getRouteApi('/connect')
const PLACEHOLDER_TOOL = 'TOOL'

/** How agents, frameworks and MCP clients connect to this board. */
export function ConnectPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const texts = useQuery(connectQuery(search.agent))
  const agentList = useQuery(agentsQuery)
  const agents = agentList.data?.items ?? []
  const agent = agents.find(({ id, name }) => search.agent === id || search.agent === name)
  const tools = useQuery({
    ...exampleToolsQuery(agent?.id),
    enabled: search.agent === undefined || agent !== undefined,
  })
  const name = chooseTool(search.tool, tools.data ?? [])
  const tool = useQuery(exampleToolQuery(name))
  const isLoading = texts.isPending || agentList.isLoading || tools.isLoading || tool.isLoading
  const change = (next: Partial<ConnectSearch>, isStep = false) =>
    void navigate({ search: (previous) => ({ ...previous, ...next }), replace: !isStep, resetScroll: false })
  // While another tool is loaded, the texts are still for the one before.
  const shown = name === undefined ? undefined : tool.data
  const example = shown ? sampleArguments(shown.input_schema) : {}
  const call = { address: boardAddress(), tool: shown?.name ?? name ?? PLACEHOLDER_TOOL, arguments: example }
  const ways = texts.data ? listWays(texts.data.clients, texts.data.loops, call) : []
  const way = ways.find((each) => each.name === (search.way ?? 'curl'))
  return (
    <>
      <PageHeader title="Connect" />
      <Stack gap="lg">
        <ConnectChoices
          address={texts.data?.address ?? boardAddress()}
          mcpAddress={texts.data?.mcp_url}
          agents={agents}
          tools={tools.data ?? []}
          agent={search.agent}
          tool={name}
          onChange={change}
        />
        {texts.error && <ErrorState error={texts.error} what="The texts" retry={() => void texts.refetch()} />}
        {isLoading && !texts.error && <ListOutline rows={6} />}
        {texts.data && !isLoading && (
          <div className={classes.columns}>
            <NativeSelect
              className={classes.narrow}
              label="What connects"
              value={way?.name ?? ''}
              data={groupOptions(ways)}
              onChange={(event) => change({ way: event.currentTarget.value, over: undefined }, true)}
            />
            <WayList className={classes.wide} ways={ways} open={way?.name} />
            {way ? (
              <Stack gap="xl" className={classes.way}>
                <SnippetPart way={way} over={search.over} onChange={change} />
                <KeyHelp agent={agent?.name} hasKey={way.name !== 'library'} />
                {name === undefined || tool.error ? (
                  <Text size="sm" c="dimmed">
                    {tool.error
                      ? 'The tool of the examples does not exist, or you may not call it; choose another one above.'
                      : 'Choose a tool above to test the connection.'}
                  </Text>
                ) : (
                  shown &&
                  !tool.isPlaceholderData && (
                    <SelfTestPart
                      key={`${shown.name} ${way.isMcp} ${search.agent}`}
                      target={{
                        tool: shown.name,
                        arguments: JSON.stringify(example),
                        agent: search.agent,
                        isMcp: way.isMcp,
                      }}
                      isDestructive={shown.destructive === true}
                    />
                  )
                )}
              </Stack>
            ) : (
              <EmptyState title={`There is no way to connect with this name`}>
                <Text size="sm" c="dimmed">
                  Choose one of the list.
                </Text>
              </EmptyState>
            )}
          </div>
        )}
      </Stack>
    </>
  )
}

function groupOptions(ways: ReturnType<typeof listWays>) {
  const groups = [...new Set(ways.map(({ group }) => group))]
  return groups.map((group) => ({
    group,
    items: ways.filter((way) => way.group === group).map(({ name, title }) => ({ value: name, label: title })),
  }))
}
