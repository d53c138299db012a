import { Sparkline } from '../../shared/chart/sparkline.tsx'
import { formatCount } from '../../shared/format/numbers.ts'
import classes from './live_page.module.css'
import { BUCKET_MS, type Bucket, listRates, sumCalls } from './live_state.ts'

const MINUTE_MS = 60_000

interface RatesProps {
  buckets: Bucket[]
  running: number
  now: number
}

/** How many calls run, and how many ended in the last minute, by outcome. */
export function Rates({ buckets, running, now }: RatesProps) {
  const { succeeded, failed, refused, in_doubt } = sumCalls(buckets, now - MINUTE_MS)
  const rates = listRates(buckets, now)
  const highest = (Math.max(...rates) * 1000) / BUCKET_MS
  const title = `Calls that ended in the last 5 minutes, at most ${highest} a second`
  return (
    <section className={classes.rates} aria-label="Last minute">
      <Rate label="Running" value={running} />
      <Rate label="Succeeded, last minute" value={succeeded} />
      <Rate label="Failed" value={failed + in_doubt} />
      <Rate label="Refused" value={refused} />
      <div className={classes.line}>
        <Sparkline values={rates} title={title} width={180} />
        <div className={classes.label}>5 minutes, up to {highest.toLocaleString('en')} calls/s</div>
      </div>
    </section>
  )
}

function Rate({ label, value }: { label: string; value: number }) {
  return (
    <div>
      <div className={classes.value}>{formatCount(value)}</div>
      <div className={classes.label}>{label}</div>
    </div>
  )
}
