import { Group, SegmentedControl, Stack } from '@mantine/core'
import { useMemo, useState } from 'react'
import { CopyText } from '../copy/copy_button.tsx'
import { formatJson } from '../json/exact_json.ts'
import { LongText } from './long_text.tsx'
import { outlineText } from './outline_text.ts'
import { ResultTable } from './result_table.tsx'
import { buildTable } from './table_rows.ts'

type Mode = 'display' | 'table' | 'text' | 'json' | 'raw'

interface ResultViewProps {
  value: unknown
  /** The unchanged response; absent for rows of the journal. */
  raw?: string
  /** The value as the tool's `display` defines it. */
  display?: string
  /** How it is shown at first, where the value can be shown so. */
  first?: Mode
}

/** A value as a table, text or JSON, beside the unchanged response. */
export function ResultView({ value, raw, display, first }: ResultViewProps) {
  const table = useMemo(() => buildTable(value), [value])
  const json = useMemo(() => formatJson(value), [value])
  const [wanted, setWanted] = useState<Mode | undefined>(first ?? (display ? 'display' : undefined))
  const mode =
    wanted === 'table' && !table ? 'json' : (wanted ?? (table ? 'table' : typeof value === 'string' ? 'text' : 'json'))
  const modes = [
    ...(display ? [{ value: 'display', label: 'Display' }] : []),
    ...(table ? [{ value: 'table', label: 'Table' }] : []),
    { value: 'text', label: 'Text' },
    { value: 'json', label: 'JSON' },
    ...(raw === undefined ? [] : [{ value: 'raw', label: 'Raw' }]),
  ]
  const texts = { raw: () => raw ?? '', display: () => display ?? '', text: () => outlineText(value) }
  const text = mode === 'json' || mode === 'table' ? json : texts[mode]()
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="Show the result as"
          data={modes}
          value={mode}
          onChange={(next) => setWanted(next as Mode)}
        />
        <CopyText text={text} label="Copy result" isIcon />
      </Group>
      {mode === 'table' && table ? (
        <ResultTable table={table} />
      ) : (
        <LongText
          key={mode}
          text={text}
          label="Result text"
          fileName={mode === 'text' || mode === 'display' ? 'result.txt' : 'result.json'}
        />
      )}
    </Stack>
  )
}
