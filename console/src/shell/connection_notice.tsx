import { Alert } from '@mantine/core'
import { Icon } from '../shared/icons/icon.tsx'
import { changeStream } from '../shared/stream/board_stream.ts'
import { useStreamState } from '../shared/stream/use_stream.ts'
import { TimeText } from '../shared/time/time_text.tsx'

/** Says since when the server cannot be reached; what was shown stays. */
export function ConnectionNotice() {
  const state = useStreamState(changeStream)
  return (
    <div role="status">
      {state.phase === 'offline' && (
        <Alert color="yellow" variant="light" icon={<Icon name="alert" />} title="No connection to the server" mb="md">
          This page shows what was known at <TimeText>{state.since}</TimeText>. It connects again by itself.
        </Alert>
      )}
    </div>
  )
}
