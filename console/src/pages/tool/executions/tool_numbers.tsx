import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../../shared/api/client.ts'
import { formatCount, formatDuration, formatShare } from '../../../shared/format/numbers.ts'
import classes from './executions_tab.module.css'

interface ToolNumbersProps {
  name: string
  since: string
  found: Schemas['ToolStatisticsResponse']
}

/** The numbers of a tool in a time span, and its most frequent errors; each error links to its calls. */
export function ToolNumbers({ name, since, found }: ToolNumbersProps) {
  const ran = found.calls - found.refused
  const facts = [
    ['Calls', formatCount(found.calls)],
    ['Success rate', `${formatShare(found.succeeded, ran)} of ${formatCount(ran)} that ran`],
    ['p50', formatDuration(found.p50_ms)],
    ['p95', formatDuration(found.p95_ms)],
    ['p99', formatDuration(found.p99_ms)],
    ['Longest', formatDuration(found.max_ms)],
  ]
  const errors = Object.entries(found.errors).slice(0, 5)
  return (
    <div>
      <dl className={classes.numbers}>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {errors.length > 0 && (
        <Text size="sm" mt="xs">
          Most frequent errors:{' '}
          {errors.map(([code, calls], place) => (
            <span key={code}>
              {place > 0 && ', '}
              <Anchor
                size="sm"
                underline="always"
                renderRoot={(props) => <Link to="/executions" search={{ tool: name, code, since }} {...props} />}
              >
                {code}
              </Anchor>{' '}
              ({formatCount(calls)})
            </span>
          ))}
        </Text>
      )}
    </div>
  )
}
