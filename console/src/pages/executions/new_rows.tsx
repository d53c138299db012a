import { useState } from 'react'
import { api, unwrap } from '../../shared/api/client.ts'
import { NewRowsButton } from '../../shared/list/new_rows_button.tsx'
import { callStream } from '../../shared/stream/board_stream.ts'
import { useStream } from '../../shared/stream/use_stream.ts'
import type { Execution } from './executions_query.ts'
import { type ExecutionsSearch, listFilters } from './executions_search.ts'
import { matchesFilters } from './matches_filters.ts'

const MOST = 100

interface NewRowsProps {
  search: ExecutionsSearch
  rows: Execution[]
  onShow: () => void
}

/** How many calls that match the filters have ended since the list was loaded. */
export function NewRows({ search, rows, onShow }: NewRowsProps) {
  const [ended, setEnded] = useState<Execution[]>([])
  const filters = listFilters(search)
  const add = (found: Execution[]) => setEnded((before) => [...found, ...before].slice(0, 10 * MOST))
  // After events that were missed, the journal has the calls.
  const readNewest = async () => {
    const query = { ...filters, limit: MOST }
    add((await unwrap(api.GET('/v1/executions', { params: { query: query as never } }))).items)
  }
  useStream(callStream, ({ name, data }) => {
    // If the server is away again, the next connection begins with a gap too.
    if (name === 'gap') void readNewest().catch(() => undefined)
    if (name === 'finished') add([JSON.parse(data) as Execution])
  })
  const shown = new Set(rows.slice(0, 10 * MOST).map((row) => row.id))
  const fresh = new Set(ended.filter((row) => !shown.has(row.id) && matchesFilters(row, filters)).map((row) => row.id))
  const count = fresh.size > MOST ? `${MOST}+` : fresh.size > 0 ? String(fresh.size) : ''
  return <NewRowsButton count={count} what="new" onShow={onShow} />
}
