import classes from './status_badge.module.css'

export type Tone = 'good' | 'bad' | 'warn' | 'idle' | 'quiet'

interface StatusBadgeProps {
  tone: Tone
  children: string
  hasDot?: boolean
  title?: string
}

/** A state in words, with a colour beside them. */
export function StatusBadge({ tone, children, hasDot = false, title }: StatusBadgeProps) {
  return (
    <span className={`${classes.badge} ${classes[tone]} ${hasDot ? '' : classes.plain}`} title={title}>
      {children}
    </span>
  )
}
