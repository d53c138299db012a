import { useQuery } from '@tanstack/react-query'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { upstreamQuery } from './imports_query.ts'
import { UpstreamActions } from './upstream_actions.tsx'
import { UpstreamFacts } from './upstream_facts.tsx'
import { UpstreamOffers } from './upstream_offers.tsx'

/** An imported MCP server: its connection, what it offers, and what can be done with it. */
export function UpstreamPanel({ id, onRemoved }: { id: string; onRemoved: () => void }) {
  const upstream = useQuery(upstreamQuery(id))
  if (upstream.data) {
    return (
      <>
        <UpstreamFacts upstream={upstream.data} />
        <UpstreamActions upstream={upstream.data} onRemoved={onRemoved} />
        <UpstreamOffers upstream={upstream.data} />
      </>
    )
  }
  if (upstream.error) {
    return <ErrorState error={upstream.error} what="The MCP server" retry={() => void upstream.refetch()} />
  }
  return <ListOutline rows={5} />
}
