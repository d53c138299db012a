import { Text } from '@mantine/core'
import type { Schemas } from '../../../shared/api/client.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'
import { PanelRow } from '../panel_row.tsx'

const LEVELS = {
  bad: { tone: 'bad', label: 'Bad' },
  warning: { tone: 'warn', label: 'Warning' },
  ok: { tone: 'good', label: 'Good' },
} as const
const ORDER = ['bad', 'warning', 'ok'] as const

/** The checks of `pegboard doctor`, what needs attention first, each with what to do. */
export function CheckList({ board }: { board: Schemas['BoardResponse'] }) {
  const checks = [...board.checks].sort((one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level))
  const age = board.checked_seconds_ago
  return (
    <Panel
      title="Checks"
      note={`Those of pegboard doctor that concern the server; ${age} s old when they were loaded.`}
    >
      <ul className={classes.rows}>
        {checks.map(({ check, level, message, advice }) => (
          <PanelRow
            key={`${check} ${message}`}
            name={
              <>
                {check}
                <StatusBadge tone={LEVELS[level].tone} hasDot>
                  {LEVELS[level].label}
                </StatusBadge>
              </>
            }
          >
            <Text size="sm">
              <ForeignText limit={600}>{message}</ForeignText>
            </Text>
            {advice && (
              <Text size="sm">
                What to do: <ForeignText limit={600}>{advice}</ForeignText>
              </Text>
            )}
          </PanelRow>
        ))}
      </ul>
    </Panel>
  )
}
