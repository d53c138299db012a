import type { Schemas } from '../api/client.ts'

export type LatencyCount = Schemas['LatencyCountResponse']

/** A bar of a histogram: the calls that took from `from` to less than `below` milliseconds. */
export interface LatencyBar {
  from: number
  below: number
  calls: number
}

const LEAST_MS = 0.01
const MOST_BARS = 30
// Steps within a power of ten, from fine to coarse.
const STEPS = [[1, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2], [1, 1.5, 2.2, 3.3, 4.7, 6.8], [1, 2, 5], [1]]

/** Return the bars of a histogram with round limits, also empty ones between others, so that the axis has no gaps. */
export function groupLatencies(counts: LatencyCount[]): LatencyBar[] {
  if (counts.length === 0) return []
  const middles = counts.map(({ from_ms, below_ms, calls }) => ({
    middle: Math.max(LEAST_MS, Math.sqrt(Math.max(from_ms, LEAST_MS / 2) * (below_ms ?? from_ms))),
    calls,
  }))
  const all = middles.map(({ middle }) => middle)
  const limits = chooseLimits(Math.min(...all), Math.max(...all))
  const bars = limits.slice(0, -1).map((from, place) => ({ from, below: limits[place + 1] ?? from, calls: 0 }))
  for (const { middle, calls } of middles) {
    const bar = bars.findLast(({ from }) => from <= middle) ?? bars[0]
    if (bar) bar.calls += calls
  }
  return bars
}

/** Return the finest limits from the last one that is not above `least` to the first one above `most`. */
function chooseLimits(least: number, most: number): number[] {
  let limits: number[] = []
  for (const steps of STEPS) {
    const all = listLimits(steps)
    const first = all.findLastIndex((limit) => limit <= least)
    const last = all.findIndex((limit) => limit > most)
    limits = all.slice(Math.max(0, first), last === -1 ? undefined : last + 1)
    if (limits.length <= MOST_BARS + 1) break
  }
  return limits
}

/** Return all limits up to 100 days. */
function listLimits(steps: number[]): number[] {
  const powers = Array.from({ length: 13 }, (_, place) => place - 2)
  return powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`)))
}
