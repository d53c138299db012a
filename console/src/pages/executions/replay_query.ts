import { api, type Schemas, unwrap } from '../../shared/api/client.ts'
import { parseExactly } from '../../shared/json/exact_json.ts'

export type Replay = Schemas['ReplayResponse']

/** Run a recorded call again. `text` is JSON of other arguments; without it, the recorded ones are used. */
export async function replayExecution(id: string, text: string | undefined, isConfirmed: boolean): Promise<Replay> {
  const fields = [...(text === undefined ? [] : [`"arguments":${text}`]), `"confirm":${isConfirmed}`]
  const answer = await unwrap(
    api.POST('/v1/executions/{execution_id}/replay', {
      params: { path: { execution_id: id } },
      // The text is sent as it is, so that every digit arrives.
      body: { confirm: isConfirmed },
      bodySerializer: () => `{${fields.join(',')}}`,
      parseAs: 'text',
    }),
  )
  return parseExactly(answer as string) as Replay
}
