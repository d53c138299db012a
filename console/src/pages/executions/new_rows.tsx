import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../shared/api/client.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { type ExecutionsSearch, listFilters } from './executions_search.ts'

const CHECK_MS = 5_000
const MOST = 100

interface NewRowsProps {
  search: ExecutionsSearch
  newest: string | undefined
  onShow: () => void
}

/** How many rows are newer than those shown; they appear on request, so that nothing moves while somebody reads. */
export function NewRows({ search, newest, onShow }: NewRowsProps) {
  const filters = listFilters(search)
  const latest = useQuery({
    queryKey: ['latest-executions', filters],
    queryFn: ({ signal }) => {
      const query = { ...filters, limit: MOST }
      return unwrap(api.GET('/v1/executions', { params: { query: query as never }, signal }))
    },
    refetchInterval: CHECK_MS,
    enabled: newest !== undefined,
    select: (page) => page.items.map((row) => row.id),
  })
  const at = latest.data?.indexOf(newest ?? '') ?? 0
  const count = at === -1 ? `${MOST}+` : String(at)
  return (
    <Button
      size="xs"
      variant={at === 0 ? 'default' : 'light'}
      leftSection={<Icon name="refresh" size={14} />}
      onClick={onShow}
    >
      {at === 0 ? 'Reload' : `${count} new`}
    </Button>
  )
}
