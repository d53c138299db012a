import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './panel.module.css'

interface PanelRowProps {
  /** The name, with badges. */
  name: ReactNode
  /** Short texts below the name. */
  facts?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}

/** One thing in the list of a panel. */
export function PanelRow({ name, facts, actions, children }: PanelRowProps) {
  return (
    <li className={classes.row}>
      <div className={classes.main}>
        <div className={classes.name}>{name}</div>
        {facts && <div className={classes.facts}>{facts}</div>}
        {children}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </li>
  )
}
