import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../action/confirm_dialog.tsx'
import { useAction } from '../action/use_action.ts'
import { ApiError } from '../api/api_error.ts'
import { api, unwrap } from '../api/client.ts'
import { spellHidden } from '../text/visible_text.ts'
import type { Key } from './keys_query.ts'

interface RevokeKeyDialogProps {
  row: Key
  isCurrent: boolean
  onClose: () => void
}

/** Asks before a key is revoked. What would lock out the user or all admins is refused first, and needs another yes. */
export function RevokeKeyDialog({ row, isCurrent, onClose }: RevokeKeyDialogProps) {
  const [isForced, setForced] = useState(false)
  const revoke = useAction({
    run: () => {
      const params = { path: { user_id: row.user_id, key_id: row.id }, query: { force: isForced } }
      return unwrap(api.DELETE('/v1/users/{user_id}/keys/{key_id}', { params }))
    },
    changes: [['keys', row.user_id], ['sessions']],
    onDone: onClose,
  })
  const isRefused = isForced || (revoke.error instanceof ApiError && revoke.error.status === 409)
  const effects = [
    'Requests with this key are refused at once.',
    'Sessions of this console that were made with it end.',
    ...(isCurrent ? ['This includes your own session: you need another key to log in again.'] : []),
  ]
  return (
    <ConfirmDialog
      title={row.name ? `Revoke the key “${spellHidden(row.name)}”?` : `Revoke the key ${row.prefix}…?`}
      effects={effects}
      submit="Revoke key"
      isOpen
      onClose={onClose}
      action={revoke}
    >
      {isRefused && (
        <Checkbox
          label="Revoke it anyway"
          checked={isForced}
          onChange={(event) => setForced(event.currentTarget.checked)}
        />
      )}
    </ConfirmDialog>
  )
}
