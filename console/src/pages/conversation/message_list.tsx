import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useShortcuts } from '../../shared/keyboard/use_shortcuts.ts'
import type { Message } from './conversation_query.ts'
import { MessageCard } from './message_card.tsx'
import classes from './messages.module.css'

const ESTIMATED_HEIGHT = 110

interface MessageListProps {
  messages: Message[]
  hasMore: boolean
  loadMore: () => void
}

/** Messages of which only the visible ones are in the page; `j` and `k` go from one to the next. */
export function MessageList({ messages, hasMore, loadMore }: MessageListProps) {
  const [chosen, setChosen] = useState(-1)
  const body = useRef<HTMLOListElement>(null)
  const [margin, setMargin] = useState(0)
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [])
  const virtualizer = useWindowVirtualizer({
    count: messages.length,
    estimateSize: () => ESTIMATED_HEIGHT,
    overscan: 4,
    scrollMargin: margin,
    getItemKey: (index) => messages[index]?.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && last >= messages.length - 5) loadMore()
  }, [hasMore, last, messages.length, loadMore])
  const choose = (index: number) => {
    const next = Math.max(0, Math.min(index, messages.length - 1))
    setChosen(next)
    virtualizer.scrollToIndex(next, { align: 'start' })
  }
  useShortcuts({ j: () => choose(chosen + 1), k: () => choose(chosen - 1) })
  return (
    <ol ref={body} className={classes.list} style={{ height: virtualizer.getTotalSize() }} aria-label="Messages">
      {items.map((item) => {
        const message = messages[item.index]
        return (
          message && (
            <li
              key={item.key}
              ref={virtualizer.measureElement}
              data-index={item.index}
              data-chosen={item.index === chosen || undefined}
              className={classes.item}
              style={{ transform: `translateY(${item.start - margin}px)` }}
            >
              <MessageCard message={message} />
            </li>
          )
        )
      })}
    </ol>
  )
}
