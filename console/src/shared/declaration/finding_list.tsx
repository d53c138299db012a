import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../api/client.ts'
import { StatusBadge } from '../list/status_badge.tsx'
import { ForeignText } from '../text/foreign_text.tsx'
import { SEVERITIES, SEVERITY_TEXT } from './severity_text.ts'

type LintFinding = Schemas['LintFinding']

const MOST = 50

export interface Finding extends LintFinding {
  /** The name of the tool, where the findings are of several. */
  tool?: string
}

/** What a provider would refuse or misread in declarations, the worst first, each with its remedy. */
export function FindingList({ findings }: { findings: Finding[] }) {
  const sorted = findings.toSorted(
    (one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity),
  )
  if (sorted.length === 0) return null
  return (
    <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Findings">
      {sorted.slice(0, MOST).map(({ tool, severity, field, message }) => (
        <Text size="sm" component="li" key={`${tool} ${severity} ${field} ${message}`}>
          <StatusBadge tone={SEVERITY_TEXT[severity].tone}>{SEVERITY_TEXT[severity].label}</StatusBadge>{' '}
          {tool !== undefined && (
            <Anchor
              size="sm"
              ff="monospace"
              renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: tool }} {...props} />}
            >
              <ForeignText limit={100}>{tool}</ForeignText>
            </Anchor>
          )}{' '}
          <ForeignText isMono limit={200}>
            {field}
          </ForeignText>
          : <ForeignText limit={600}>{message}</ForeignText>
        </Text>
      ))}
      {sorted.length > MOST && (
        <Text size="sm" component="li">
          {sorted.length - MOST} more findings
        </Text>
      )}
    </Stack>
  )
}
