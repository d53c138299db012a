import { Alert } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon } from '../shared/icons/icon.tsx'
import { useRetriedError } from '../shared/query/retried_error.ts'
import { changeStream } from '../shared/stream/board_stream.ts'
import { useStreamState } from '../shared/stream/use_stream.ts'
import { ForeignText } from '../shared/text/foreign_text.tsx'
import { TimeText } from '../shared/time/time_text.tsx'

/** Says since when the server cannot be reached, or what is wrong with its answers; what was shown stays. */
export function ConnectionNotice() {
  const state = useStreamState(changeStream)
  const error = useRetriedError()
  return <div role="status">{describe(state, error)}</div>
}

function describe(state: ReturnType<typeof useStreamState>, error: Error | undefined): ReactNode {
  if (state.phase === 'offline' && state.isHeldBack) {
    return (
      <Notice title="Events of the server do not arrive">
        A proxy in between seems to hold them back (buffering), so this page has not changed by itself since{' '}
        <TimeText>{state.since}</TimeText>. Switch off buffering in the proxy; until then, load pages again to see
        changes.
      </Notice>
    )
  }
  if (state.phase === 'offline') {
    return (
      <Notice title="No connection to the server">
        This page shows what was known at <TimeText>{state.since}</TimeText>. It connects again by itself.
      </Notice>
    )
  }
  if (error) {
    return (
      <Notice title="The server does not answer as it should">
        <ForeignText>{error.message}</ForeignText>. The page tries again by itself.
      </Notice>
    )
  }
  return null
}

function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="alert" />} title={title} mb="md">
      {children}
    </Alert>
  )
}
