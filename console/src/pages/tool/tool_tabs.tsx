import { getRouteApi } from '@tanstack/react-router'
import { lazy } from 'react'
import type { Schemas } from '../../shared/api/client.ts'
import { type PageTab, PageTabs } from '../../shared/tabs/page_tabs.tsx'
import type { ToolSearch } from './tool_search.ts'
import { useCall } from './try_it/use_call.ts'

const TryItTab = lazy(() => import('./try_it/try_it_tab.tsx'))

type ToolTab = NonNullable<ToolSearch['tab']>

const route = getRouteApi('/tools/$ref')

/** The tabs of a tool. */
export function ToolTabs({ tool }: { tool: Schemas['ToolResponse'] }) {
  const { tab } = route.useSearch()
  const call = useCall()
  const tabs: PageTab<ToolTab>[] = [{ value: 'try', label: 'Try it', panel: <TryItTab tool={tool} call={call} /> }]
  return <PageTabs label="Tabs of the tool" tabs={tabs} open={tab} />
}
