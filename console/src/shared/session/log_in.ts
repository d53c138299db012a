import { api, unwrap } from '../api/client.ts'

/** Log in with a key or a one-time code; the server sets the cookie. */
export async function logIn(credential: { key: string } | { code: string }): Promise<void> {
  await unwrap(api.POST('/v1/sessions', { body: credential }))
}

/** End the session on the server. */
export async function logOut(): Promise<void> {
  await unwrap(api.DELETE('/v1/sessions/{session_id}', { params: { path: { session_id: 'current' } } }))
}
