import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useShortcuts } from '../keyboard/use_shortcuts.ts'
import classes from './data_list.module.css'
import { SelectionBox } from './selection_box.tsx'

interface DataListProps<Row> {
  label: string
  columns: string[]
  rows: Row[]
  /** Sets the columns of the grid, and the order of a card on a small screen. */
  className: string | undefined
  rowHeight: number
  keyOf: (row: Row) => string
  renderCells: (row: Row) => ReactNode[]
  onOpen: (row: Row) => void
  openKey?: string | undefined
  hasMore: boolean
  loadMore: () => void
  /** Shows a box before each row; `x` selects the row that `j` and `k` have chosen. */
  selection?: RowSelection<Row> | undefined
}

export interface RowSelection<Row> {
  has: (row: Row) => boolean
  onChange: (rows: Row[], isSelected: boolean) => void
  nameOf: (row: Row) => string
}

/** Rows of which only the visible ones are in the page; `j` and `k` choose one, Enter opens it. */
export function DataList<Row>(props: DataListProps<Row>) {
  const { label, columns, rows, className, rowHeight, keyOf, renderCells, onOpen, openKey, hasMore, loadMore } = props
  const { selection } = props
  const [chosen, setChosen] = useState(-1)
  const body = useRef<HTMLDivElement>(null)
  const [margin, setMargin] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is above the list changes with its rows
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [rows.length])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: margin,
    getItemKey: (index) => {
      const row = rows[index]
      return row === undefined ? index : keyOf(row)
    },
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && last >= rows.length - 10) loadMore()
  }, [hasMore, last, rows.length, loadMore])

  const choose = (index: number) => {
    const next = Math.max(0, Math.min(index, rows.length - 1))
    setChosen(next)
    virtualizer.scrollToIndex(next, { align: 'auto' })
    const row = rows[next]
    if (openKey !== undefined && row !== undefined) onOpen(row)
  }
  useShortcuts({
    j: () => choose(chosen + 1),
    k: () => choose(chosen - 1),
    ...(selection && {
      x: () => {
        const row = rows[chosen]
        if (row !== undefined) selection.onChange([row], !selection.has(row))
      },
    }),
    Enter: (event) => {
      const row = rows[chosen]
      const target = event.target as HTMLElement
      if (row !== undefined && !target.closest('a, button')) onOpen(row)
      else if (target.closest('a, button')) (target.closest('a, button') as HTMLElement).click()
    },
  })

  const open = (event: MouseEvent, index: number, row: Row) => {
    if ((event.target as HTMLElement).closest('a, button, input, label')) return
    setChosen(index)
    onOpen(row)
  }
  const rowClass = `${classes.row} ${className ?? ''}`
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot have rows at positions of their own
    <div className={classes.list} role="table" aria-label={label} aria-rowcount={hasMore ? -1 : rows.length + 1}>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: only its links take the focus */}
      <div role="row" className={`${classes.header} ${className ?? ''}`} aria-rowindex={1}>
        {selection && (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: only its box takes the focus
          <div role="columnheader">
            <SelectionBox
              label="Select all rows that are loaded"
              isSelected={rows.length > 0 && rows.every(selection.has)}
              onChange={(isSelected) => selection.onChange(rows, isSelected)}
            />
          </div>
        )}
        {columns.map((column) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: only its links take the focus
          <div role="columnheader" key={column}>
            {column}
          </div>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup" ref={body} className={classes.body} style={{ height: virtualizer.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index]
          if (row === undefined) return null
          const isChosen = openKey === undefined ? item.index === chosen : keyOf(row) === openKey
          return (
            // biome-ignore lint/a11y/useSemanticElements: see above
            // biome-ignore lint/a11y/useFocusableInteractive: only its links take the focus
            // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row, and j, k and Enter, do the same
            <div
              role="row"
              key={item.key}
              ref={virtualizer.measureElement}
              data-index={item.index}
              data-chosen={isChosen || undefined}
              aria-rowindex={item.index + 2}
              className={rowClass}
              style={{ transform: `translateY(${item.start - margin}px)` }}
              onClick={(event) => open(event, item.index, row)}
            >
              {selection && (
                // biome-ignore lint/a11y/useSemanticElements: see above
                <div role="cell">
                  <SelectionBox
                    label={`Select ${selection.nameOf(row)}`}
                    isSelected={selection.has(row)}
                    onChange={(isSelected) => selection.onChange([row], isSelected)}
                  />
                </div>
              )}
              {renderCells(row).map((cell, index) => (
                // biome-ignore lint/a11y/useSemanticElements: see above
                <div role="cell" key={columns[index]}>
                  {cell}
                </div>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
}
