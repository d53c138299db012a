import { Anchor, Button, Group, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../../../shared/action/use_action.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { usePreference } from '../../../shared/storage/preferences.ts'
import { Panel } from '../panel.tsx'
import { PruneDialog } from './prune_dialog.tsx'
import { countRows } from './prune_rows.ts'

/** How long rows are kept, and the removal of old ones. */
export function PrunePanel() {
  const [zone] = usePreference('time-zone', 'local')
  const isUtc = zone === 'utc'
  const [typed, setTyped] = useState('')
  const [isAsking, setAsking] = useState(false)
  const [removed, setRemoved] = useState<number>()
  const start = new Date(isUtc ? `${typed}Z` : typed)
  const before = Number.isNaN(start.getTime()) || start.getTime() > Date.now() ? undefined : start.toISOString()
  const count = useAction({ run: () => countRows(before ?? ''), onDone: () => setRemoved(undefined) })
  const change = (next: string) => {
    setTyped(next)
    count.reset()
  }
  return (
    <Panel
      title="Remove old rows"
      note={
        <>
          Rows stay until an admin removes them; no setting removes any. Export them first, with{' '}
          <Anchor
            underline="always"
            size="sm"
            renderRoot={(props) => (
              <Link to="/executions" search={before === undefined ? {} : { until: before }} {...props} />
            )}
          >
            Export in Executions
          </Anchor>
          . The rows that stay can still be verified.
        </>
      }
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          type="datetime-local"
          step={1}
          label={isUtc ? 'Calls that finished before (UTC)' : 'Calls that finished before'}
          value={typed}
          onChange={(event) => change(event.currentTarget.value)}
          error={typed !== '' && before === undefined ? 'Choose a time that is over' : undefined}
        />
        <Button
          variant="default"
          disabled={before === undefined}
          loading={count.isPending}
          onClick={() => count.mutate()}
        >
          Count
        </Button>
        {count.data !== undefined && count.data > 0 && (
          <Button color="red.9" onClick={() => setAsking(true)}>
            Remove {count.data === 1 ? '1 row' : `${count.data.toLocaleString('en')} rows`}
          </Button>
        )}
      </Group>
      <Text size="sm" mt="xs" role="status">
        {count.data === 0 && 'No call finished before this time.'}
        {removed !== undefined && `Removed ${removed === 1 ? '1 row' : `${removed.toLocaleString('en')} rows`}.`}
      </Text>
      {count.error && <ErrorState error={count.error} what="Counting the rows" retry={() => count.mutate()} />}
      {isAsking && before !== undefined && count.data !== undefined && (
        <PruneDialog
          before={before}
          count={count.data}
          onClose={() => setAsking(false)}
          onRemoved={(rows) => {
            setAsking(false)
            count.reset()
            setRemoved(rows)
          }}
        />
      )}
    </Panel>
  )
}
