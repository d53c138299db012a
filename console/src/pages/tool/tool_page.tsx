import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ToolHeader } from './tool_header.tsx'
import { ToolTabs } from './tool_tabs.tsx'
import { useFollowedTool } from './use_followed_tool.ts'

const ToolChangesNotice = lazy(() => import('./tool_changes_notice.tsx'))
const route = getRouteApi('/tools/$ref')

/** One tool: what it is, and its tabs. */
export function ToolPage() {
  const { ref } = route.useParams()
  const { tool, error, isGone, formerName, reload } = useFollowedTool(ref)
  if (error) return <ErrorState error={error} what={`The tool ${ref}`} retry={reload} />
  if (!tool) return <ListOutline rows={4} />
  return (
    <>
      <ToolHeader tool={tool} />
      <div role="status">
        {(isGone || formerName !== undefined) && (
          <Suspense>
            <ToolChangesNotice tool={tool} isGone={isGone} formerName={formerName} />
          </Suspense>
        )}
      </div>
      <ToolTabs key={tool.id} tool={tool} />
    </>
  )
}
