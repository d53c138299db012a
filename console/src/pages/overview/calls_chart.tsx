import { Button, Group, Title } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleBand, scaleLinear } from 'd3-scale'
import { useState } from 'react'
import { formatCount } from '../../shared/format/numbers.ts'
import classes from './calls_chart.module.css'
import { CallsTable } from './calls_table.tsx'
import page from './overview_page.module.css'
import type { Period } from './overview_query.ts'
import { formatPeriod } from './period_text.ts'

const OUTCOMES = [
  { name: 'succeeded', label: 'Succeeded' },
  { name: 'failed', label: 'Failed' },
  { name: 'refused', label: 'Refused' },
  { name: 'in_doubt', label: 'In doubt' },
] as const
const HEIGHT = 180
const LEFT = 38
const BOTTOM = 22

interface CallsChartProps {
  series: Period[]
  by: 'hour' | 'day'
}

/** The calls by outcome over time, as bars or as a table. */
export function CallsChart({ series, by }: CallsChartProps) {
  const [isTable, setTable] = useState(false)
  return (
    <section className={page.card} aria-label="Calls over time">
      <Group justify="space-between" mb="sm">
        <Title order={2}>Calls by {by}</Title>
        <Group gap="md">
          <div className={classes.legend}>
            {OUTCOMES.map(({ name, label }) => (
              <span key={name} className={classes[name]}>
                {label}
              </span>
            ))}
          </div>
          <Button size="xs" variant="default" onClick={() => setTable(!isTable)}>
            {isTable ? 'Show as a chart' : 'Show as a table'}
          </Button>
        </Group>
      </Group>
      {isTable ? <CallsTable series={series} by={by} /> : <Bars series={series} by={by} />}
    </section>
  )
}

function Bars({ series, by }: CallsChartProps) {
  const { ref, width } = useElementSize<HTMLDivElement>()
  const most = Math.max(1, ...series.map((period) => period.calls))
  const x = scaleBand(
    series.map((period) => period.start),
    [LEFT, Math.max(width, LEFT + 1)],
  ).padding(0.2)
  const y = scaleLinear([0, most], [HEIGHT - BOTTOM, 6]).nice(3)
  const every = Math.max(1, Math.ceil(series.length / Math.max(2, Math.floor(width / 90))))
  return (
    <div ref={ref}>
      <svg className={classes.chart} role="img" aria-label={`Calls by ${by}; the button shows them as a table`}>
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
        {series.map((period, index) => (
          <g key={period.start}>
            <title>{describePeriod(period, by)}</title>
            <rect x={x(period.start)} y={0} width={x.bandwidth()} height={HEIGHT - BOTTOM} fill="transparent" />
            {stack(period).map(({ name, from, to }) => (
              <rect
                key={name}
                className={classes[name]}
                x={x(period.start)}
                width={x.bandwidth()}
                y={y(to)}
                height={Math.max(0, y(from) - y(to))}
              />
            ))}
            {index % every === 0 && (
              <text
                className={classes.axis}
                x={(x(period.start) ?? 0) + x.bandwidth() / 2}
                y={HEIGHT - 5}
                textAnchor="middle"
              >
                {formatPeriod(period.start, by)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  )
}

/** Return the parts of a bar, one on the other. */
function stack(period: Period) {
  let from = 0
  return OUTCOMES.map(({ name }) => {
    const part = { name, from, to: from + period[name] }
    from = part.to
    return part
  }).filter((part) => part.to > part.from)
}

function describePeriod(period: Period, by: 'hour' | 'day'): string {
  const parts = OUTCOMES.filter(({ name }) => period[name] > 0).map(({ name, label }) => `${label}: ${period[name]}`)
  return [formatPeriod(period.start, by), ...(parts.length > 0 ? parts : ['No calls'])].join('\n')
}
