import { useState } from 'react'
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
  const [hasGap, setGap] = useState(false)
  useStream(callStream, ({ name, data }) => {
    if (name === 'gap') setGap(true)
    if (name !== 'finished') return
    const row = JSON.parse(data) as Execution
    setEnded((before) => [row, ...before].slice(0, 10 * MOST))
  })
  const shown = new Set(rows.slice(0, 10 * MOST).map((row) => row.id))
  const filters = listFilters(search)
  const fresh = new Set(ended.filter((row) => !shown.has(row.id) && matchesFilters(row, filters)).map((row) => row.id))
  const isCut = hasGap || fresh.size > MOST
  const some = hasGap ? 'Some' : ''
  const count = fresh.size === 0 ? some : `${Math.min(fresh.size, MOST)}${isCut ? '+' : ''}`
  const show = () => {
    setGap(false)
    onShow()
  }
  return <NewRowsButton count={count} what="new" onShow={show} />
}
