import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'

interface SparklineProps {
  values: number[]
  title: string
  width?: number
  height?: number
}

/** A small line of numbers over time; its title says what they are. */
export function Sparkline({ values, title, width = 84, height = 22 }: SparklineProps) {
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [1, width - 1])
  const y = scaleLinear([0, Math.max(1, ...values)], [height - 2, 2])
  const path = line<number>(
    (_value, index) => x(index),
    (value) => y(value),
  )
  const fill = area<number>(
    (_value, index) => x(index),
    height - 1,
    (value) => y(value),
  )
  return (
    <svg width={width} height={height} role="img" aria-label={title}>
      <title>{title}</title>
      <path d={fill(values) ?? ''} fill="var(--board-link)" opacity={0.16} />
      <path d={path(values) ?? ''} fill="none" stroke="var(--board-link)" strokeWidth={1.4} />
    </svg>
  )
}
