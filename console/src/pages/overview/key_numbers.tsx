import { Link } from '@tanstack/react-router'
import { formatCount, formatDuration, formatShare } from '../../shared/format/numbers.ts'
import type { ExecutionsSearch } from '../executions/executions_search.ts'
import classes from './overview_page.module.css'
import type { ToolStatistics } from './overview_query.ts'
import { rankTools, type Totals } from './totals.ts'

interface KeyNumbersProps {
  totals: Totals
  tools: ToolStatistics[]
  since: string
}

/** The numbers of the time; each links to the calls that it counts. */
export function KeyNumbers({ totals, tools, since }: KeyNumbersProps) {
  const ended = totals.calls - totals.refused
  const slowest = rankTools(tools, 'p95_ms', 1)[0]
  return (
    <div className={classes.numbers}>
      <NumberLink label="Calls" value={formatCount(totals.calls)} note="of all tools" search={{ since }} />
      <NumberLink
        label="Success rate"
        value={formatShare(totals.succeeded, ended)}
        note={`${formatCount(totals.succeeded)} of ${formatCount(ended)} that ran`}
        search={{ since, status: 'succeeded' }}
      />
      <NumberLink
        label="Failed"
        value={formatCount(totals.failed)}
        note="ran and failed"
        search={{ since, status: 'failed' }}
      />
      <NumberLink
        label="Refused"
        value={formatCount(totals.refused)}
        note="did not run"
        search={{ since, status: 'refused' }}
      />
      <NumberLink
        label="Slowest tool, p95"
        value={formatDuration(slowest?.p95_ms)}
        note={slowest?.tool_name ?? 'No call ran'}
        search={{ since, tool: slowest?.tool_name ?? undefined }}
      />
    </div>
  )
}

interface NumberLinkProps {
  label: string
  value: string
  note: string
  search: ExecutionsSearch
}

function NumberLink({ label, value, note, search }: NumberLinkProps) {
  return (
    <Link to="/executions" search={search} className={classes.number}>
      <div className={classes.label}>{label}</div>
      <div className={classes.value}>{value}</div>
      <div className={classes.note}>{note}</div>
    </Link>
  )
}
