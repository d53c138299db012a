import { useMe } from '../../../shared/session/use_me.ts'
import { KeyList } from '../keys/key_list.tsx'
import { OwnUser } from './own_user.tsx'
import { Preferences } from './preferences.tsx'
import { SessionList } from './session_list.tsx'
import { useSessions } from './sessions_query.ts'

/** One's own user, keys, sessions and preferences. */
export default function AccountSection() {
  const { user } = useMe()
  const sessions = useSessions()
  const current = sessions.data?.find((session) => session.is_current)
  return (
    <>
      <OwnUser />
      <KeyList userId={user.id} currentKeyId={current?.key_id} />
      <SessionList sessions={sessions} />
      <Preferences />
    </>
  )
}
