import classes from './foreign_text.module.css'
import { cutText, spellHidden, splitHidden } from './visible_text.ts'

// More would be too many elements; then hidden characters are spelled out in the text itself.
const MAX_PARTS = 200

interface ForeignTextProps {
  children: string | null | undefined
  isMono?: boolean
  limit?: number
}

/** Text that a tool, an upstream, a model or another user wrote: hidden characters are spelled out, long text is cut. */
export function ForeignText({ children, isMono = false, limit = 2000 }: ForeignTextProps) {
  const { text, left } = cutText(children ?? '', limit)
  const parts = splitHidden(text)
  return (
    <span className={isMono ? `${classes.text} ${classes.mono}` : classes.text} dir="auto">
      {parts.length > MAX_PARTS
        ? spellHidden(text)
        : parts.map((part, index) =>
            part.isHidden ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
              <span key={index} className={classes.hidden} title={`Hidden character ${part.text}`}>
                {part.text}
              </span>
            ) : (
              part.text
            ),
          )}
      {left > 0 && `… (${left.toLocaleString('en')} more characters)`}
    </span>
  )
}
