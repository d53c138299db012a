import { Button, Group, Table, Title } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleBand, scaleLinear } from 'd3-scale'
import { useMemo, useState } from 'react'
import { formatCount, formatDuration, formatShare } from '../format/numbers.ts'
import { groupLatencies, type LatencyBar, type LatencyCount } from './group_latencies.ts'
import classes from './latency_histogram.module.css'

const HEIGHT = 170
const LEFT = 38
const BOTTOM = 22

/** How many calls took how long, as bars or as a table. */
export function LatencyHistogram({ latencies }: { latencies: LatencyCount[] }) {
  const [isTable, setTable] = useState(false)
  const bars = useMemo(() => groupLatencies(latencies), [latencies])
  return (
    <section className={classes.card} aria-label="Duration of calls">
      <Group justify="space-between" mb="sm">
        <Title order={2}>Calls by duration</Title>
        <Button size="xs" variant="default" onClick={() => setTable(!isTable)}>
          {isTable ? 'Show as a chart' : 'Show as a table'}
        </Button>
      </Group>
      {isTable ? <LatencyTable bars={bars} /> : <Bars bars={bars} />}
    </section>
  )
}

function Bars({ bars }: { bars: LatencyBar[] }) {
  const { ref, width } = useElementSize<HTMLDivElement>()
  const x = scaleBand(
    bars.map((bar) => bar.from),
    [LEFT, Math.max(width, LEFT + 1)],
  ).paddingInner(0.08)
  const y = scaleLinear([0, Math.max(1, ...bars.map((bar) => bar.calls))], [HEIGHT - BOTTOM, 6]).nice(3)
  const every = Math.max(1, Math.ceil(bars.length / Math.max(2, Math.floor(width / 70))))
  return (
    <div ref={ref}>
      <svg className={classes.chart} role="img" aria-label="Calls by duration; the button shows them as a table">
        {y
          .ticks(3)
          .filter(Number.isInteger)
          .map((tick) => (
            <g key={tick}>
              <line className={classes.line} x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
              <text className={classes.axis} x={LEFT - 6} y={y(tick) + 4} textAnchor="end">
                {formatCount(tick)}
              </text>
            </g>
          ))}
        {bars.map((bar, place) => (
          <g key={bar.from}>
            <title>{`${formatRange(bar)}\nCalls: ${bar.calls.toLocaleString('en')}`}</title>
            <rect x={x(bar.from)} y={0} width={x.bandwidth()} height={HEIGHT - BOTTOM} fill="transparent" />
            <rect
              className={classes.bar}
              x={x(bar.from)}
              width={x.bandwidth()}
              y={y(bar.calls)}
              height={Math.max(0, y(0) - y(bar.calls))}
            />
            {place % every === 0 && (
              <text className={classes.axis} x={x(bar.from)} y={HEIGHT - 5}>
                {formatDuration(bar.from)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  )
}

function LatencyTable({ bars }: { bars: LatencyBar[] }) {
  const all = bars.reduce((sum, bar) => sum + bar.calls, 0)
  let before = 0
  const rows = bars.map((bar) => {
    before += bar.calls
    return { ...bar, upTo: before }
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={classes.table} tabIndex={0} aria-label="Calls by duration as a table">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Duration</Table.Th>
            <Table.Th>Calls</Table.Th>
            <Table.Th>Share</Table.Th>
            <Table.Th>Share up to here</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((bar) => (
            <Table.Tr key={bar.from}>
              <Table.Td>{formatRange(bar)}</Table.Td>
              <Table.Td>{bar.calls.toLocaleString('en')}</Table.Td>
              <Table.Td>{formatShare(bar.calls, all)}</Table.Td>
              <Table.Td>{formatShare(bar.upTo, all)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

function formatRange({ from, below }: LatencyBar): string {
  return `${formatDuration(from)} to ${formatDuration(below)}`
}
