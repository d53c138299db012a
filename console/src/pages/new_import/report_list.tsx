import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { DataList } from '../../shared/list/data_list.tsx'
import { FilterInput } from '../../shared/list/filter_input.tsx'
import { StatusBadge, type Tone } from '../../shared/list/status_badge.tsx'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import classes from './new_import_page.module.css'
import { OUTCOMES, type Outcome, type ReportRow } from './report_rows.ts'
import { RowChanges } from './row_changes.tsx'

const COLUMNS = ['Outcome', 'Name', 'What and why']
const TONES: Record<Outcome, Tone> = {
  created: 'good',
  updated: 'warn',
  drifted: 'bad',
  unchanged: 'idle',
  gone: 'warn',
  left_out: 'bad',
}
const LABELS: Record<Outcome, string> = {
  created: 'New',
  updated: 'Changed',
  drifted: 'Refused',
  unchanged: 'Unchanged',
  gone: 'Gone',
  left_out: 'Left out',
}
const MEANINGS: Record<Outcome, string> = {
  created: '',
  updated: 'Open it to see what changes',
  drifted: 'The server has changed it; it is refused until it is accepted',
  unchanged: '',
  gone: 'No longer in the source; it stays, until you delete it',
  left_out: '',
}

interface ReportListProps {
  rows: ReportRow[]
  counts: Record<Outcome, number>
  isDone: boolean
}

/** The lines of a report: filtered by what happens and by name; a changed one opens to its fields. */
export function ReportList({ rows, counts, isDone }: ReportListProps) {
  const [outcome, setOutcome] = useState<Outcome>()
  const [text, setText] = useState('')
  const [open, setOpen] = useState<string>()
  const wanted = text.toLowerCase()
  const shown = rows.filter(
    (row) =>
      (outcome === undefined || row.outcome === outcome) &&
      (row.name.toLowerCase().includes(wanted) || row.reasons.some((reason) => reason.toLowerCase().includes(wanted))),
  )
  const opened = shown.find((row) => row.key === open)
  if (rows.length === 0) return <EmptyState title="The source has nothing that can be imported" />
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Button size="xs" variant={outcome ? 'default' : 'light'} onClick={() => setOutcome(undefined)}>
          {`All ${rows.length.toLocaleString('en')}`}
        </Button>
        {OUTCOMES.filter((each) => counts[each] > 0).map((each) => (
          <Button
            key={each}
            size="xs"
            variant={outcome === each ? 'light' : 'default'}
            aria-pressed={outcome === each}
            onClick={() => setOutcome(outcome === each ? undefined : each)}
          >
            {`${LABELS[each]} ${counts[each].toLocaleString('en')}`}
          </Button>
        ))}
        <FilterInput value={text} label="Filter by name or reason" onChange={setText} />
      </Group>
      {shown.length === 0 && <EmptyState title="No line matches these filters" />}
      {opened && <RowChanges row={opened} onClose={() => setOpen(undefined)} />}
      {shown.length > 0 && (
        <DataList
          label={isDone ? 'What was imported' : 'What would be imported'}
          columns={COLUMNS}
          rows={shown}
          className={classes.grid}
          rowHeight={44}
          keyOf={(row) => row.key}
          onOpen={(row) => setOpen(row.fields && row.key !== open ? row.key : undefined)}
          hasMore={false}
          loadMore={() => undefined}
          renderCells={(row) => [
            <StatusBadge key="outcome" tone={TONES[row.outcome]}>
              {LABELS[row.outcome]}
            </StatusBadge>,
            <div key="name" className={classes.name} title={spellHidden(row.name)}>
              <ForeignText isMono limit={120}>
                {row.name}
              </ForeignText>
            </div>,
            <div key="why" className={classes.why}>
              {row.kind !== 'tool' && <Text span size="sm">{`${row.kind}. `}</Text>}
              {row.reasons.length > 0 ? (
                <ForeignText
                  limit={300}
                >{`${row.outcome === 'left_out' ? '' : 'In part: '}${row.reasons.join('; ')}`}</ForeignText>
              ) : (
                !row.fields && MEANINGS[row.outcome]
              )}
              {row.fields && (
                <Button size="compact-xs" variant="default" onClick={() => setOpen(row.key)}>
                  {`${Object.keys(row.fields).length} fields: show`}
                </Button>
              )}
            </div>,
          ]}
        />
      )}
    </Stack>
  )
}
