import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import classes from './panel.module.css'

// System has several such lists, and a page has at most 2,000 elements.
const STEP = 20

interface RowListProps<Item> {
  items: readonly Item[]
  renderRow: (item: Item) => ReactNode
}

/** The rows of a panel; of many, only the first ones until the person asks for more. */
export function RowList<Item>({ items, renderRow }: RowListProps<Item>) {
  const [limit, setLimit] = useState(STEP)
  const left = items.length - limit
  return (
    <>
      <ul className={classes.rows}>{items.slice(0, limit).map(renderRow)}</ul>
      {left > 0 && (
        <Button size="xs" variant="default" mt="sm" onClick={() => setLimit(limit + STEP)}>
          Show {Math.min(left, STEP)} of {left.toLocaleString('en')} more
        </Button>
      )}
    </>
  )
}
