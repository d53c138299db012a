import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api_error.ts'
import { logOut } from './log_in.ts'
import { announceLogout } from './session_state.ts'

/** Return the function that ends the session on the server, forgets what was loaded, and tells the other tabs. */
export function useLogOut(): () => Promise<void> {
  const queryClient = useQueryClient()
  return async () => {
    try {
      await logOut()
    } catch (error) {
      // A session that is over already needs no end.
      if (!(error instanceof ApiError && error.status === 401)) {
        notifications.show({ color: 'red', title: 'Not logged out', message: String(error) })
        return
      }
    }
    announceLogout()
    queryClient.clear()
    window.location.reload()
  }
}
