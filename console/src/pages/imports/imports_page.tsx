import { Button, Group } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Icon } from '../../shared/icons/icon.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { PageTabs } from '../../shared/tabs/page_tabs.tsx'
import { ChangeInbox } from './change_inbox.tsx'
import { upstreamListQuery } from './imports_query.ts'
import { SourceView } from './source_view.tsx'

const route = getRouteApi('/imports')

/** Where tools come from, and what their servers have changed. */
export function ImportsPage() {
  const { tab } = route.useSearch()
  const upstreams = useInfiniteQuery(upstreamListQuery).data ?? []
  const drifted = upstreams.reduce((sum, { counts }) => sum + counts.drifted, 0)
  const tabs = useMemo(
    () => [
      { value: 'sources' as const, label: 'Sources', panel: <SourceView /> },
      {
        value: 'changes' as const,
        label: drifted > 0 ? `Changes to accept (${drifted})` : 'Changes to accept',
        panel: <ChangeInbox />,
      },
    ],
    [drifted],
  )
  return (
    <>
      <PageHeader title="Imports">
        <Group gap="xs">
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            renderRoot={(props) => <Link to="/imports/new" search={{ from: 'openapi' }} {...props} />}
          >
            Import an API
          </Button>
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            renderRoot={(props) => <Link to="/imports/new" search={{ from: 'mcp' }} {...props} />}
          >
            Import an MCP server
          </Button>
        </Group>
      </PageHeader>
      <PageTabs label="Imports" tabs={tabs} open={tab} />
    </>
  )
}
