import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorState } from '../shared/states/error_state.tsx'

/** For a page that failed, such as one whose files the server no longer has. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  return <ErrorState error={error} what="This page" retry={reset} />
}
