import { Code } from '@mantine/core'
import type { ReactNode } from 'react'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import type { UpstreamDetails } from './imports_query.ts'
import classes from './source_panel.module.css'
import { SourceState } from './source_state.tsx'

/** The address of a server, the state of its connection, and how it was imported. */
export function UpstreamFacts({ upstream }: { upstream: UpstreamDetails }) {
  const { connection, prefix, include, follow, is_public: isPublic } = upstream
  const address = upstream.server_url ?? (upstream.command ?? []).join(' ')
  const source = { kind: 'mcp' as const, key: upstream.id, name: upstream.name, address, upstream }
  const facts: [string, ReactNode][] = [
    ['State', <SourceState key="state" source={source} />],
    [
      upstream.server_url ? 'Address' : 'Command',
      <ForeignText key="address" isMono>
        {address}
      </ForeignText>,
    ],
    ['Session', connection.is_open ? `Open${connection.calls > 0 ? `, ${connection.calls} running` : ''}` : 'None now'],
    [
      'Circuit breaker',
      connection.circuit === 'open' ? 'Open: calls are refused for a while after failures' : 'Closed',
    ],
    [
      'Last check',
      connection.checked_at ? <TimeText key="checked">{connection.checked_at}</TimeText> : 'Not yet by this process',
    ],
  ]
  if (connection.last_error) facts.push(['Last error', <ForeignText key="error">{connection.last_error}</ForeignText>])
  facts.push(['What is new', follow ? 'Is added by itself' : 'Is added when you import again'])
  if (prefix) facts.push(['Prefix', <Code key="prefix">{prefix}</Code>])
  if (include.length > 0) facts.push(['Only tools', <Code key="include">{include.join(', ')}</Code>])
  facts.push(['New tools are', isPublic ? 'Public' : 'Private'])
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
