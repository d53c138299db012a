import { StatusBadge } from '../../shared/list/status_badge.tsx'
import type { Source } from './sources.ts'

/** Whether a server answers and offers what was accepted; a document has no such state. */
export function SourceState({ source }: { source: Source }) {
  if (source.kind === 'openapi') {
    const { active, tools } = source.document
    return (
      <StatusBadge tone="idle" title="The board does not store the document, so it does not notice changes">
        {active === tools ? 'All active' : `${active} active`}
      </StatusBadge>
    )
  }
  const { state, counts, connection } = source.upstream
  if (state === 'unavailable') {
    return (
      <StatusBadge tone="bad" hasDot title="It did not answer when its lists were read last">
        Unavailable
      </StatusBadge>
    )
  }
  if (connection.circuit === 'open') {
    return (
      <StatusBadge tone="bad" hasDot title="Calls are refused for a while after failures">
        Circuit open
      </StatusBadge>
    )
  }
  if (state === 'drifted') {
    return (
      <StatusBadge tone="warn" hasDot title="Changed since it was accepted, and refused until it is accepted again">
        {`${counts.drifted} drifted`}
      </StatusBadge>
    )
  }
  return (
    <StatusBadge tone="quiet" hasDot>
      OK
    </StatusBadge>
  )
}
