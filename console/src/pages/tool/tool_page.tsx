import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ApiError } from '../../shared/api/api_error.ts'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ToolGone } from './tool_gone.tsx'
import { ToolHeader } from './tool_header.tsx'
import { toolQuery } from './tool_query.ts'
import { ToolTabs } from './tool_tabs.tsx'

const route = getRouteApi('/tools/$ref')

/** One tool: what it is, and its tabs. */
export function ToolPage() {
  const { ref } = route.useParams()
  const tool = useQuery(toolQuery(ref))
  // A tool that is renamed or deleted while its page is open stays on the page.
  const isGone = tool.error instanceof ApiError && tool.error.status === 404
  if (tool.error && !tool.data) {
    return <ErrorState error={tool.error} what={`The tool ${ref}`} retry={() => void tool.refetch()} />
  }
  if (!tool.data) return <ListOutline rows={4} />
  return (
    <>
      {isGone && <ToolGone tool={tool.data} />}
      <ToolHeader tool={tool.data} />
      <ToolTabs key={tool.data.id} tool={tool.data} />
    </>
  )
}
