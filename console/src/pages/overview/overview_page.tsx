import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { Attention } from './attention.tsx'
import { CallsChart } from './calls_chart.tsx'
import { FirstSteps } from './first_steps.tsx'
import { KeyNumbers } from './key_numbers.tsx'
import classes from './overview_page.module.css'
import { startOf, statisticsQuery } from './overview_query.ts'
import { SPANS, type Span } from './overview_search.ts'
import { ToolRanking } from './tool_ranking.tsx'
import { addPeriods } from './totals.ts'

const route = getRouteApi('/overview')
const LABELS: Record<Span, string> = { hour: '1 hour', day: '24 hours', week: '7 days', month: '30 days' }

/** What is called, what fails and what needs attention. */
export function OverviewPage() {
  const { span = 'day' } = route.useSearch()
  const navigate = route.useNavigate()
  const statistics = useQuery(statisticsQuery(span))
  const { data } = statistics
  const totals = addPeriods(data?.series ?? [])
  const since = startOf(span)
  return (
    <>
      <PageHeader title="Overview">
        <SegmentedControl
          size="xs"
          aria-label="Time"
          data={SPANS.map((value) => ({ value, label: LABELS[value] }))}
          value={span}
          onChange={(next) => void navigate({ search: { span: next as Span }, replace: true })}
        />
      </PageHeader>
      {statistics.error && (
        <ErrorState error={statistics.error} what="The statistics" retry={() => void statistics.refetch()} />
      )}
      {statistics.isPending && !statistics.error && <ListOutline rows={5} />}
      {data && (
        <>
          <Attention totals={totals} since={since} />
          {totals.calls === 0 && <FirstSteps span={LABELS[span]} />}
          {totals.calls > 0 && (
            <>
              <KeyNumbers totals={totals} tools={data.tools} since={since} />
              <CallsChart series={data.series} by={data.by} />
              <div className={classes.lists}>
                <ToolRanking title="Busiest tools" tools={data.tools} by="calls" since={since} />
                <ToolRanking title="Slowest tools, p95" tools={data.tools} by="p95_ms" since={since} />
                <ToolRanking title="Most failed or refused calls" tools={data.tools} by="problems" since={since} />
              </div>
            </>
          )}
        </>
      )}
    </>
  )
}
