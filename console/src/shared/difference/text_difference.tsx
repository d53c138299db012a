import { useMemo } from 'react'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './difference.module.css'
import { compareLines, compareWords, type TextRun } from './text_runs.ts'

// Comparing more would take too long.
const MOST_CHARACTERS = 100_000
const MOST_RUNS = 200
const RUN = 2000
// What is shown of a long part that is in both texts.
const CONTEXT = 120

interface TextDifferenceProps {
  before: string
  after: string
}

/** The difference of two texts: removed parts are struck through, added ones underlined; by lines if a text has several. */
export function TextDifference({ before, after }: TextDifferenceProps) {
  const hasLines = before.includes('\n') || after.includes('\n')
  const runs = useMemo(() => compareTexts(before, after, hasLines), [before, after, hasLines])
  const left = runs.length - MOST_RUNS
  return (
    <div className={hasLines ? `${classes.diff} ${classes.lines}` : classes.diff}>
      {runs.slice(0, MOST_RUNS).map((run, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one comparison never move
        <Run key={place} run={run} isFirst={place === 0} isLast={place === runs.length - 1} />
      ))}
      {left > 0 && <span>… ({left} more parts)</span>}
    </div>
  )
}

function Run({ run: { change, text }, isFirst, isLast }: { run: TextRun; isFirst: boolean; isLast: boolean }) {
  if (change === 'removed') {
    return (
      <del>
        <ForeignText isMono limit={RUN}>
          {text}
        </ForeignText>
      </del>
    )
  }
  if (change === 'added') {
    return (
      <ins>
        <ForeignText isMono limit={RUN}>
          {text}
        </ForeignText>
      </ins>
    )
  }
  return (
    <span className={classes.same}>
      <ForeignText isMono>{cutSame(text, isFirst, isLast)}</ForeignText>
    </span>
  )
}

function compareTexts(before: string, after: string, hasLines: boolean): TextRun[] {
  if (before.length + after.length > MOST_CHARACTERS) {
    return [
      { change: 'removed', text: before },
      { change: 'added', text: after },
    ]
  }
  return hasLines ? compareLines(before, after) : compareWords(before, after)
}

/** Return a part that is in both texts without its middle, or without the end that is far from a change. */
function cutSame(text: string, isFirst: boolean, isLast: boolean): string {
  const head = isFirst ? 0 : CONTEXT
  const tail = isLast ? 0 : CONTEXT
  if (text.length <= head + tail + CONTEXT) return text
  return `${text.slice(0, head)} … ${tail === 0 ? '' : text.slice(-tail)}`
}
