import { tags } from '@lezer/highlight'

/** Colours with enough contrast in both schemes, from the variables of the theme. */
export const CODE_COLOURS = [
  {
    tag: [tags.propertyName, tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword],
    color: 'var(--board-link)',
  },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], color: 'var(--board-link)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--board-good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.self], color: 'var(--board-warn)' },
  { tag: [tags.comment, tags.meta], color: 'var(--mantine-color-dimmed)' },
]

/** The look of the editor: as the other fields. */
export const EDITOR_THEME = {
  '&': {
    backgroundColor: 'var(--mantine-color-body)',
    border: '1px solid var(--board-border)',
    borderRadius: '6px',
    color: 'var(--mantine-color-text)',
    fontSize: '13px',
  },
  '&.cm-focused': { outline: '2px solid var(--board-link)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', maxHeight: '420px', minHeight: '160px' },
  '.cm-gutters': {
    backgroundColor: 'var(--board-surface)',
    borderRight: '1px solid var(--board-border)',
    color: 'var(--mantine-color-dimmed)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--board-hover) !important' },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    border: '1px solid var(--board-border)',
    color: 'var(--mantine-color-text)',
  },
}
