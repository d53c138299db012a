import { api, unwrap } from '../../shared/api/client.ts'
import type { Change } from './changes.ts'

/** Accept a change of a server: exactly the one that was shown, else the board refuses it. */
export async function acceptChange(upstreamId: string, change: Change): Promise<void> {
  if (change.kind === 'tool') {
    await acceptTool(change)
    return
  }
  const params = { path: { upstream_id: upstreamId }, query: { entry: change.name, digest: change.digest } }
  await unwrap(api.POST('/v1/upstreams/{upstream_id}/accept', { params }))
}

/** Accept a change of a tool: exactly the one that was shown, else the board refuses it. */
export async function acceptTool({ name, digest }: Change): Promise<void> {
  await unwrap(api.POST('/v1/tools/{ref}/accept', { params: { path: { ref: name }, query: { digest } } }))
}
