import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { ActionButton } from '../../../shared/action/action_button.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { keysQuery } from '../../../shared/keys/keys_query.ts'
import { useMe } from '../../../shared/session/use_me.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { Panel } from '../panel.tsx'
import { RowList } from '../row_list.tsx'
import { SessionRow } from './session_row.tsx'
import type { Session } from './sessions_query.ts'

/** One's own sessions: end one, or all but this one. */
export function SessionList({ sessions }: { sessions: UseQueryResult<Session[]> }) {
  const { user } = useMe()
  const keys = useQuery(keysQuery(user.id)).data ?? []
  const nameOf = (id: string) => keys.find((key) => key.id === id)?.name
  const others = (sessions.data ?? []).filter((session) => !session.is_current)
  const endOthers = useAction({
    run: async () => {
      for (const { id } of others) {
        await unwrap(api.DELETE('/v1/sessions/{session_id}', { params: { path: { session_id: id } } }))
      }
    },
    changes: [['sessions']],
  })
  return (
    <Panel
      title="Your sessions"
      note="A session is what a browser has instead of a key. It acts as you until it ends."
      actions={
        others.length > 0 && (
          <ActionButton size="xs" variant="default" action={endOthers} what="Ending the other sessions">
            {others.length === 1 ? 'End the other one' : `End all ${others.length} others`}
          </ActionButton>
        )
      }
    >
      {sessions.error && (
        <ErrorState error={sessions.error} what="Your sessions" retry={() => void sessions.refetch()} />
      )}
      {sessions.isPending && !sessions.error && <ListOutline rows={2} />}
      {sessions.data && (
        <RowList
          items={sessions.data}
          renderRow={(session) => <SessionRow key={session.id} session={session} keyName={nameOf(session.key_id)} />}
        />
      )}
    </Panel>
  )
}
