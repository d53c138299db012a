import { ApiError } from '../api/api_error.ts'
import { api, unwrap } from '../api/client.ts'

const NO_COOKIE = {
  title: 'No cookie',
  detail: 'The browser did not keep the cookie of the session. Allow cookies for this address, and log in again',
}

/** Log in with a key or a one-time code; the server sets the cookie. Throw ApiError if the browser does not keep it. */
export async function logIn(credential: { key: string } | { code: string }): Promise<void> {
  await unwrap(api.POST('/v1/sessions', { body: credential }))
  const { response } = await api.GET('/v1/me')
  if (response.status === 401) throw new ApiError(401, NO_COOKIE)
}

/** End the session on the server. */
export async function logOut(): Promise<void> {
  await unwrap(api.DELETE('/v1/sessions/{session_id}', { params: { path: { session_id: 'current' } } }))
}
