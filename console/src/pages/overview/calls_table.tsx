import { Table } from '@mantine/core'
import { formatDuration } from '../../shared/format/numbers.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import classes from './calls_chart.module.css'
import type { Period } from './overview_query.ts'
import { formatPeriod } from './period_text.ts'

interface CallsTableProps {
  series: Period[]
  by: 'hour' | 'day'
}

/** The same numbers as the chart, with durations. */
export function CallsTable({ series, by }: CallsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={classes.table} tabIndex={0} aria-label={`Calls by ${by} as a table`}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {['Start', 'Calls', 'Succeeded', 'Failed', 'Refused', 'In doubt', 'p50', 'p95'].map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {series.toReversed().map((period) => (
            <Table.Tr key={period.start}>
              <Table.Td>{by === 'day' ? formatPeriod(period.start, by) : <TimeText>{period.start}</TimeText>}</Table.Td>
              <Table.Td>{period.calls}</Table.Td>
              <Table.Td>{period.succeeded}</Table.Td>
              <Table.Td>{period.failed}</Table.Td>
              <Table.Td>{period.refused}</Table.Td>
              <Table.Td>{period.in_doubt}</Table.Td>
              <Table.Td>{formatDuration(period.p50_ms)}</Table.Td>
              <Table.Td>{formatDuration(period.p95_ms)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}
