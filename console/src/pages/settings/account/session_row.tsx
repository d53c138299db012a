import { ActionButton } from '../../../shared/action/action_button.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { PanelRow } from '../panel_row.tsx'
import { nameBrowser } from './browser_name.ts'
import type { Session } from './sessions_query.ts'

/** One session: its browser, when it was used, when it ends. */
export function SessionRow({ session, keyName }: { session: Session; keyName: string | undefined }) {
  const end = useAction({
    run: () => unwrap(api.DELETE('/v1/sessions/{session_id}', { params: { path: { session_id: session.id } } })),
    changes: [['sessions']],
  })
  const name = nameBrowser(session.client)
  return (
    <PanelRow
      name={
        <>
          {name ? (
            <span title={spellHidden(session.client)}>{name}</span>
          ) : (
            <ForeignText isMono limit={80}>
              {session.client || 'Unknown browser'}
            </ForeignText>
          )}
          {session.is_current && <StatusBadge tone="good">This browser</StatusBadge>}
        </>
      }
      facts={
        <>
          <span>
            Logged in <TimeText>{session.created_at}</TimeText>
          </span>
          {session.last_used_at && (
            <span>
              Used <TimeText isAge>{session.last_used_at}</TimeText>
            </span>
          )}
          {keyName && (
            <span>
              With the key <ForeignText isMono>{keyName}</ForeignText>
            </span>
          )}
          <span>
            Ends <TimeText>{session.expires_at}</TimeText>
          </span>
        </>
      }
      actions={
        !session.is_current && (
          <ActionButton size="xs" variant="default" action={end} what="Ending the session">
            End
          </ActionButton>
        )
      }
    />
  )
}
