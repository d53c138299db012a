import { Alert, List } from '@mantine/core'
import type { Schemas } from '../../../shared/api/client.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'

/** Version, start, database, spool and sandbox of the running board. */
export function BoardFacts({ board }: { board: Schemas['BoardResponse'] }) {
  const { not_ready, spool, sandbox, database } = board
  const reasons = [...not_ready, ...(spool.trouble ? [spool.trouble] : [])]
  const isConfined = sandbox.checks.every((check) => check.level !== 'bad')
  return (
    <Panel title="Board">
      {reasons.length > 0 && (
        <Alert color="red" variant="light" icon={<Icon name="alert" />} title="Calls cannot be served now" mb="md">
          <List size="sm">
            {reasons.map((reason) => (
              <List.Item key={reason}>
                <ForeignText>{reason}</ForeignText>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <dl className={classes.list}>
        <dt>State</dt>
        <dd>
          <StatusBadge tone={reasons.length === 0 ? 'good' : 'bad'} hasDot>
            {reasons.length === 0 ? 'Serves calls' : 'Does not serve calls'}
          </StatusBadge>
        </dd>
        <dt>Version</dt>
        <dd>
          {board.version}, Python {board.python}
        </dd>
        <dt>Started</dt>
        <dd>
          <TimeText>{board.started_at}</TimeText>
        </dd>
        <dt>Database</dt>
        <dd>
          {database.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, <ForeignText isMono>{database.url}</ForeignText>,
          revision {database.revision}
        </dd>
        <dt>Spool</dt>
        <dd>
          {spool.checks.length === 0
            ? 'None: the journal is in memory'
            : spool.checks.map((check) => (
                <ForeignText key={check.message} limit={400}>
                  {check.message}
                </ForeignText>
              ))}
        </dd>
        <dt>Sandbox</dt>
        <dd>
          {isConfined ? 'Confines python and shell tools' : 'Cannot confine python and shell tools, which are refused'}
          {`; at most ${sandbox.children} calls at once`}
          {sandbox.without.length > 0 && `; set to run without ${sandbox.without.join(', ')}`}
        </dd>
      </dl>
    </Panel>
  )
}
