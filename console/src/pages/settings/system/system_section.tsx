import { useQuery } from '@tanstack/react-query'
import { boardQuery } from '../../../shared/board/board_query.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { BoardFacts } from './board_facts.tsx'
import { BoardSettings } from './board_settings.tsx'
import { CheckList } from './check_list.tsx'
import { OriginList } from './origin_list.tsx'
import { ProcessList } from './process_list.tsx'
import { UpstreamList } from './upstream_list.tsx'

/** The running board, its checks, and the servers that its tools call. */
export default function SystemSection() {
  const board = useQuery(boardQuery)
  return (
    <>
      {board.error && <ErrorState error={board.error} what="The board" retry={() => void board.refetch()} />}
      {board.isPending && !board.error && <ListOutline rows={6} />}
      {board.data && (
        <>
          <BoardFacts board={board.data} />
          <CheckList board={board.data} />
        </>
      )}
      <OriginList />
      <UpstreamList />
      {board.data && (
        <>
          <ProcessList processes={board.data.processes} />
          <BoardSettings settings={board.data.settings} />
        </>
      )}
    </>
  )
}
