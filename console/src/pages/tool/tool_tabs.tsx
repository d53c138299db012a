import { getRouteApi } from '@tanstack/react-router'
import { lazy } from 'react'
import type { Schemas } from '../../shared/api/client.ts'
import { useMe } from '../../shared/session/use_me.ts'
import { type PageTab, PageTabs } from '../../shared/tabs/page_tabs.tsx'
import type { ToolSearch } from './tool_search.ts'
import { useCall } from './try_it/use_call.ts'

const EditTab = lazy(() => import('./edit/edit_tab.tsx'))
const TryItTab = lazy(() => import('./try_it/try_it_tab.tsx'))
const ModelTab = lazy(() => import('./model/model_tab.tsx'))
const ExecutionsTab = lazy(() => import('./executions/executions_tab.tsx'))
const VersionsTab = lazy(() => import('./versions/versions_tab.tsx'))
const AccessTab = lazy(() => import('./access/access_tab.tsx'))

// Tools of these kinds may be defined in code or in the file of tables. The board neither changes such a tool nor has
// versions of it, and its id is made of its name.
const LOCAL_KINDS = ['internal', 'table']
const NAME_BASED_ID = /^.{14}5/

type ToolTab = NonNullable<ToolSearch['tab']>

const route = getRouteApi('/tools/$ref')

/** The tabs of a tool; those that only its owner and admins may see are for them. */
export function ToolTabs({ tool }: { tool: Schemas['ToolResponse'] }) {
  const { tab } = route.useSearch()
  const { user } = useMe()
  const call = useCall()
  const canManage = user.role === 'admin' || user.id === tool.owner_id
  const isLocal = LOCAL_KINDS.includes(tool.tool_type) && NAME_BASED_ID.test(tool.id)
  const canEdit = canManage && !isLocal
  const tabs: PageTab<ToolTab>[] = [
    { value: 'try', label: 'Try it', panel: <TryItTab tool={tool} call={call} /> },
    { value: 'model', label: 'What the model sees', panel: <ModelTab tool={tool} canEdit={canEdit} /> },
    { value: 'executions', label: 'Executions', panel: <ExecutionsTab tool={tool} /> },
  ]
  // An address leads every user to the tab, which says who can change the tool.
  if (canEdit || tab === 'edit') tabs.push({ value: 'edit', label: 'Edit', panel: <EditTab tool={tool} /> })
  if (canEdit) tabs.push({ value: 'versions', label: 'Versions', panel: <VersionsTab tool={tool} /> })
  if (canManage) tabs.push({ value: 'access', label: 'Access', panel: <AccessTab tool={tool} /> })
  return <PageTabs label="Tabs of the tool" tabs={tabs} open={tab} />
}
