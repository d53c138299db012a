import { alignItems } from './align_items.ts'

/** A part of two texts: in both, only before, or only after. */
export interface TextRun {
  change: 'same' | 'removed' | 'added'
  text: string
}

// Comparing more would take too long.
const MOST_CHARACTERS = 100_000
// Texts that have less in common are easier to read one after the other.
const LEAST_KEPT = 0.3

/** Return the difference of two texts as runs: by lines if a text has several, else by words. */
export function compareTexts(before: string, after: string): TextRun[] {
  if (before.length + after.length > MOST_CHARACTERS) return replaceAll(before, after)
  if (before.includes('\n') || after.includes('\n')) return compareLines(before, after)
  const runs = compareWords(before, after)
  const kept = runs.filter(({ change }) => change === 'same').reduce((sum, { text }) => sum + text.trim().length, 0)
  return kept < LEAST_KEPT * Math.max(before.length, after.length) ? replaceAll(before, after) : runs
}

/** Return the runs of a text that replaces another one. */
function replaceAll(before: string, after: string): TextRun[] {
  return [
    { change: 'removed', text: before },
    { change: 'added', text: after },
  ]
}

/** Return the words of two texts as runs; joined without the added ones they are `before`, without the removed `after`. */
export function compareWords(before: string, after: string): TextRun[] {
  return joinRuns(splitWords(before), splitWords(after), '')
}

/** Return the lines of two texts as runs of whole lines. */
export function compareLines(before: string, after: string): TextRun[] {
  return joinRuns(before.split('\n'), after.split('\n'), '\n')
}

function joinRuns(before: string[], after: string[], separator: string): TextRun[] {
  const runs: { change: TextRun['change']; items: string[] }[] = []
  for (const item of alignItems(before, after)) {
    const change = item.after === undefined ? 'removed' : item.before === undefined ? 'added' : 'same'
    const text = (item.after === undefined ? before[item.before as number] : after[item.after]) ?? ''
    const last = runs.at(-1)
    if (last?.change === change) last.items.push(text)
    else runs.push({ change, items: [text] })
  }
  return runs.map(({ change, items }) => ({ change, text: items.join(separator) }))
}

function splitWords(text: string): string[] {
  return text.split(/(\s+)/).filter((part) => part !== '')
}
