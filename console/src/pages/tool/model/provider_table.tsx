import { Anchor, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../../shared/api/client.ts'
import { SEVERITIES, SEVERITY_TEXT } from '../../../shared/declaration/severity_text.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import classes from './model_tab.module.css'

interface ProviderTableProps {
  providers: Schemas['LintedProvider'][]
  /** Those of the saved version, if another one is shown. */
  saved: Schemas['LintedProvider'][] | undefined
  /** The dialects whose declarations are shown. */
  chosen: string[]
  /** Returns `as` of the address with this dialect shown. */
  addTo: (dialect: string) => string
}

/** Each main provider with the tokens of the declaration, and how much of it the provider would refuse or misread. */
export function ProviderTable({ providers, saved, chosen, addTo }: ProviderTableProps) {
  return (
    <div className={classes.providers}>
      <Table aria-label="Providers">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Dialect</Table.Th>
            <Table.Th>Tokens</Table.Th>
            <Table.Th>Findings</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {providers.map(({ dialect, findings, tools }) => (
            <Table.Tr key={dialect}>
              <Table.Td>
                <Anchor
                  size="sm"
                  ff="monospace"
                  aria-current={chosen.includes(dialect) ? 'true' : undefined}
                  renderRoot={(props) => (
                    <Link
                      to="."
                      search={((all: object) => ({ ...all, as: addTo(dialect) })) as never}
                      resetScroll={false}
                      {...props}
                    />
                  )}
                >
                  {dialect}
                </Anchor>
              </Table.Td>
              <Table.Td>
                {tools[0]?.tokens.toLocaleString('en')}
                {describeChange(tools[0]?.tokens, saved?.find((each) => each.dialect === dialect)?.tools[0]?.tokens)}
              </Table.Td>
              <Table.Td>
                <Counts findings={[...findings, ...tools.flatMap((tool) => tool.findings)]} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

function Counts({ findings }: { findings: Schemas['LintFinding'][] }) {
  const counts = SEVERITIES.map((severity) => ({
    severity,
    count: findings.filter((finding) => finding.severity === severity).length,
  })).filter(({ count }) => count > 0)
  if (counts.length === 0) {
    return (
      <Text span size="sm" c="dimmed">
        none
      </Text>
    )
  }
  return counts.map(({ severity, count }) => (
    <span key={severity} className={classes.count}>
      <StatusBadge tone={SEVERITY_TEXT[severity].tone}>{`${count} ${SEVERITY_TEXT[severity].label}`}</StatusBadge>
    </span>
  ))
}

function describeChange(tokens: number | undefined, before: number | undefined): string {
  if (tokens === undefined || before === undefined || before === tokens) return ''
  return ` (${tokens > before ? '+' : '−'}${Math.abs(tokens - before).toLocaleString('en')})`
}
