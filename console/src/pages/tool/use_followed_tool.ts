import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../../shared/api/api_error.ts'
import { toolQuery } from './tool_query.ts'

interface FollowedTool {
  /** The name or id of the address that led to the tool. */
  ref: string
  id: string
  /** Its name when the page was opened. */
  name: string
}

/** The tool that an address names, then followed by its id: after a rename, another tool may get its name. */
export function useFollowedTool(ref: string) {
  const queryClient = useQueryClient()
  const [found, setFound] = useState<FollowedTool>()
  const followed = found?.ref === ref ? found : undefined
  const query = useQuery(toolQuery(followed?.id ?? ref))
  const { data, error } = query
  useEffect(() => {
    if (followed || !data) return
    queryClient.setQueryData(toolQuery(data.id).queryKey, data)
    setFound({ ref, id: data.id, name: data.name })
  }, [followed, data, ref, queryClient])
  const isGone = data !== undefined && error instanceof ApiError && error.status === 404
  return {
    tool: isGone ? { ...data, is_deleted: true } : data,
    error: data === undefined ? error : null,
    isGone,
    formerName: data && followed && data.name !== followed.name ? followed.name : undefined,
    reload: () => void query.refetch(),
  }
}
