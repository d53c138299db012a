import { useMemo } from 'react'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './difference.module.css'
import { compareTexts, type TextRun } from './text_runs.ts'

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
  const runs = useMemo(() => compareTexts(before, after), [before, after])
  const left = runs.length - MOST_RUNS
  const isBlock = before.includes('\n') || after.includes('\n') || runs.every(({ change }) => change !== 'same')
  return (
    <div className={isBlock ? `${classes.diff} ${classes.lines}` : classes.diff}>
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

/** Return a part that is in both texts without its middle, or without the end that is far from a change. */
function cutSame(text: string, isFirst: boolean, isLast: boolean): string {
  const head = isFirst ? 0 : CONTEXT
  const tail = isLast ? 0 : CONTEXT
  if (text.length <= head + tail + CONTEXT) return text
  return `${text.slice(0, head)} … ${tail === 0 ? '' : text.slice(-tail)}`
}
