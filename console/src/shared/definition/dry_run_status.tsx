import { Text } from '@mantine/core'
import { ErrorState } from '../states/error_state.tsx'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './definition.module.css'
import type { YamlTextFault } from './definition_yaml.ts'
import type { DryRun } from './use_dry_run.ts'

const MOST = 8
const PHASES = {
  none: 'The server checks what you change',
  checking: 'Checking',
  valid: 'Valid: the server accepts it',
  refused: '',
}

interface DryRunStatusProps {
  text: string
  syntax: YamlTextFault[]
  dryRun: DryRun
}

/** What is wrong with a definition, as far as it is known. */
export function DryRunStatus({ text, syntax, dryRun }: DryRunStatusProps) {
  if (dryRun.phase === 'failed') return <ErrorState error={dryRun.error} what="The check by the server" />
  const faults = syntax.map(({ from, message }) => `Line ${countLines(text, from)}: ${message}`)
  const refused = dryRun.faults.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  const all = faults.length > 0 ? faults : refused.length > 0 ? refused : dryRun.error ? [dryRun.error.message] : []
  return (
    <div role="status">
      {all.length === 0 && (
        <Text size="sm" c={dryRun.phase === 'valid' ? 'var(--board-good)' : 'dimmed'}>
          {PHASES[dryRun.phase]}
        </Text>
      )}
      {all.length > 0 && (
        <ul className={classes.faults}>
          {all.slice(0, MOST).map((fault) => (
            <li key={fault}>
              <ForeignText limit={400}>{fault}</ForeignText>
            </li>
          ))}
          {all.length > MOST && <li>{all.length - MOST} more</li>}
        </ul>
      )}
    </div>
  )
}

function countLines(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
