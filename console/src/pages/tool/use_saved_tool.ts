import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Schemas } from '../../shared/api/client.ts'
import { toolQuery } from './tool_query.ts'

type Tool = Schemas['ToolResponse']

const route = getRouteApi('/tools/$ref')

/** Return a function that shows a tool that was saved; after a rename, the address has its new name. */
export function useSavedTool() {
  const { ref } = route.useParams()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  return useCallback(
    async (tool: Tool) => {
      const next = ref === tool.id ? ref : tool.name
      for (const each of [tool.id, next]) queryClient.setQueryData(toolQuery(each).queryKey, tool)
      if (next !== ref) {
        await navigate({ params: { ref: next }, search: (all) => all, replace: true, resetScroll: false })
      }
      for (const queryKey of [['tool', tool.id], ['tool-list'], ['search']]) {
        void queryClient.invalidateQueries({ queryKey })
      }
    },
    [ref, navigate, queryClient],
  )
}
