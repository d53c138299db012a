import { Anchor, List } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import type { Finding } from './verification_query.ts'

/** What a verification found, each with a link to the row that it names. */
export function FindingList({ findings }: { findings: Finding[] }) {
  return (
    <List size="sm" spacing={4}>
      {findings.map((finding) => (
        <List.Item key={`${finding.kind} ${finding.writer} ${finding.first} ${finding.message}`}>
          <ForeignText limit={400}>{finding.message}</ForeignText>{' '}
          {finding.execution_id && (
            <Anchor
              underline="always"
              size="sm"
              renderRoot={(props) => (
                <Link
                  to="/executions"
                  search={{ open: finding.execution_id ?? undefined, part: 'proof' as const }}
                  {...props}
                />
              )}
            >
              Show this row
            </Anchor>
          )}
        </List.Item>
      ))}
    </List>
  )
}
