import { Anchor, Stack, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import type { Lint } from '../agent_query.ts'
import { costByDialect, formatChange } from './tool_costs.ts'
import classes from './tools_tab.module.css'

interface TokenTotalsProps {
  lint: Lint
  /** What the saved tools cost; the table then shows the change. */
  saved?: Lint
  isOld?: boolean
}

/** What the tools cost in each of the main dialects, and how many of them are refused or misread. */
export function TokenTotals({ lint, saved, isOld = false }: TokenTotalsProps) {
  const rows = costByDialect(lint)
  const before = new Map(saved ? costByDialect(saved).map((row) => [row.dialect, row.tokens]) : [])
  return (
    <Stack gap={6} aria-busy={isOld}>
      <Table className={classes.totals} horizontalSpacing={6} aria-label="Tokens by dialect">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Dialect</Table.Th>
            <Table.Th>Tokens</Table.Th>
            {saved && <Table.Th>Change</Table.Th>}
            <Table.Th>Faults</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ dialect, tokens, refused, misread }) => (
            <Table.Tr key={dialect}>
              <Table.Td>
                {saved ? (
                  dialect
                ) : (
                  <Anchor
                    size="sm"
                    renderRoot={(props) => (
                      <Link
                        to="/agents/$id"
                        from="/agents/$id"
                        search={(all) => ({ ...all, tab: 'model', as: dialect })}
                        {...props}
                      />
                    )}
                  >
                    {dialect}
                  </Anchor>
                )}
              </Table.Td>
              <Table.Td className={classes.number}>{tokens.toLocaleString('en')}</Table.Td>
              {saved && (
                <Table.Td className={classes.number}>{formatChange(tokens, before.get(dialect) ?? 0)}</Table.Td>
              )}
              <Table.Td>
                {refused > 0 && <StatusBadge tone="bad">{`${refused} refused`}</StatusBadge>}{' '}
                {misread > 0 && <StatusBadge tone="warn">{`${misread} misread`}</StatusBadge>}
                {refused + misread === 0 && <span className={classes.muted}>None</span>}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {[...new Set(rows.flatMap((row) => row.findings))].map((finding) => (
        <Text key={finding} size="sm" c="var(--board-bad)">
          <ForeignText>{finding}</ForeignText>
        </Text>
      ))}
      <Text size="xs" c="dimmed">
        {lint.counted}.
      </Text>
    </Stack>
  )
}
