import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import type { Upstream } from './attention_query.ts'

/** Why an MCP server needs attention. */
export function UpstreamTrouble({ upstream }: { upstream: Upstream }) {
  const { name, state, counts, connection } = upstream
  return (
    <>
      MCP server <ForeignText isMono>{name}</ForeignText>:{' '}
      {state === 'drifted' && (
        <>
          <Anchor
            underline="always"
            size="sm"
            renderRoot={(props) => <Link to="/imports" search={{ tab: 'changes', open: upstream.id }} {...props} />}
          >
            {counts.drifted} drifted
          </Anchor>
          , and refused until the change is accepted.{' '}
        </>
      )}
      {state === 'unavailable' && (
        <>
          it does not answer
          {connection.last_error && (
            <>
              {' ('}
              <ForeignText limit={300}>{connection.last_error}</ForeignText>)
            </>
          )}
          .{' '}
        </>
      )}
      {connection.circuit === 'open' && 'Calls are refused for a while after failures (its circuit breaker is open).'}
    </>
  )
}
