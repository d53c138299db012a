import { Anchor, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { formatCount, formatDuration } from '../../shared/format/numbers.ts'
import { spellHidden } from '../../shared/text/visible_text.ts'
import classes from './overview_page.module.css'
import type { ToolStatistics } from './overview_query.ts'
import { type Ranking, rankTools } from './totals.ts'

interface ToolRankingProps {
  title: string
  tools: ToolStatistics[]
  by: Ranking
  since: string
}

/** The first tools by one number; each links to its calls. */
export function ToolRanking({ title, tools, by, since }: ToolRankingProps) {
  const ranked = rankTools(tools, by)
  return (
    <section className={classes.card} aria-label={title}>
      <Title order={2} mb={6}>
        {title}
      </Title>
      {ranked.length === 0 && (
        <Text size="sm" c="dimmed">
          None
        </Text>
      )}
      {ranked.map((tool) => (
        <div key={tool.tool_name} className={classes.row}>
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/executions" search={{ tool: tool.tool_name ?? undefined, since }} {...props} />
            )}
          >
            {spellHidden(tool.tool_name ?? '')}
          </Anchor>
          <span className={classes.amount}>{writeAmount(tool, by)}</span>
        </div>
      ))}
    </section>
  )
}

function writeAmount(tool: ToolStatistics, by: Ranking): string {
  if (by === 'p95_ms') return formatDuration(tool.p95_ms)
  if (by === 'calls') return formatCount(tool.calls)
  return `${formatCount(tool.failed + tool.refused + tool.in_doubt)} of ${formatCount(tool.calls)}`
}
