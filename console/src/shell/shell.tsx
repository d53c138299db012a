import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { LoginPage } from '../pages/login/login_page.tsx'
import { ApiError } from '../shared/api/api_error.ts'
import { queryClient } from '../shared/query/query_client.ts'
import { continueSession, forgetSession } from '../shared/session/continue_session.ts'
import { listenToTabs } from '../shared/session/session_state.ts'
import { meQuery } from '../shared/session/use_me.ts'
import { ErrorState } from '../shared/states/error_state.tsx'
import { ConnectionNotice } from './connection_notice.tsx'
import { Frame } from './frame.tsx'

/** Shows the log-in page until there is a session, then the frame with the page in it. */
export function Shell() {
  const me = useQuery(meQuery)
  useEffect(
    () =>
      listenToTabs((event) => {
        void (event === 'started' ? continueSession(queryClient) : forgetSession(queryClient))
      }),
    [],
  )
  if (me.data) return <Frame />
  if (me.error instanceof ApiError && me.error.status === 401) return <LoginPage />
  if (me.error) return <ErrorState error={me.error} what="The board" retry={() => void me.refetch()} />
  // Before the first answer, a server that is tried again is all that can be shown.
  return <ConnectionNotice />
}
