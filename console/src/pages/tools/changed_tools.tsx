import { useState } from 'react'
import { NewRowsButton } from '../../shared/list/new_rows_button.tsx'
import { changeStream } from '../../shared/stream/board_stream.ts'
import { useStream } from '../../shared/stream/use_stream.ts'

/** How many tools have changed since the list was loaded. */
export function ChangedTools({ onShow }: { onShow: () => void }) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [hasGap, setGap] = useState(false)
  useStream(changeStream, ({ name, data }) => {
    if (name === 'gap') setGap(true)
    if (name !== 'change') return
    const change = JSON.parse(data) as { kind: string; id: string }
    if (change.kind === 'tool') setIds((before) => new Set(before).add(change.id))
  })
  const some = hasGap ? 'Some' : ''
  const count = ids.size === 0 ? some : `${ids.size}${hasGap ? '+' : ''}`
  const show = () => {
    setIds(new Set())
    setGap(false)
    onShow()
  }
  return <NewRowsButton count={count} what="changed" onShow={show} />
}
