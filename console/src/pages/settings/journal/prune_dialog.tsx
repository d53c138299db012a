import { Checkbox, Progress, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { ConfirmDialog } from '../../../shared/action/confirm_dialog.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { ApiError } from '../../../shared/api/api_error.ts'
import { usePreference } from '../../../shared/storage/preferences.ts'
import { formatTime, type Zone } from '../../../shared/time/format_time.ts'
import { pruneRows } from './prune_rows.ts'

interface PruneDialogProps {
  before: string
  count: number
  onClose: () => void
  onRemoved: (rows: number) => void
}

/** Asks before rows are removed, and shows how far the removal is; closing the dialog stops it. */
export function PruneDialog({ before, count, onClose, onRemoved }: PruneDialogProps) {
  const [zone] = usePreference('time-zone', 'local')
  const [isForced, setForced] = useState(false)
  const [done, setDone] = useState(0)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const prune = useAction({
    run: () => {
      const controller = new AbortController()
      running.current = controller
      return pruneRows(before, isForced, setDone, controller.signal)
    },
    changes: [['execution-list'], ['statistics']],
    onDone: onRemoved,
  })
  const isRefused = isForced || (prune.error instanceof ApiError && prune.error.status === 409)
  const rows = count === 1 ? '1 row' : `${count.toLocaleString('en')} rows`
  return (
    <ConfirmDialog
      title={`Remove ${rows} from the journal?`}
      effects={[
        `The calls that finished before ${formatTime(before, zone as Zone)} are deleted: arguments, results, errors and printed output.`,
        'The statistics of the hours before are deleted too.',
      ]}
      submit={`Remove ${rows}`}
      isOpen
      onClose={onClose}
      action={prune}
    >
      {prune.isPending && (
        <>
          <Text size="sm" role="status">
            Removed {done.toLocaleString('en')} of {count.toLocaleString('en')}. Cancel stops the removal; what is
            removed stays removed.
          </Text>
          <Progress value={(done / count) * 100} aria-label="Removed part" />
        </>
      )}
      {isRefused && (
        <Checkbox
          label="Also remove rows that were tampered with, and with them the trace of it"
          checked={isForced}
          onChange={(event) => setForced(event.currentTarget.checked)}
        />
      )}
    </ConfirmDialog>
  )
}
