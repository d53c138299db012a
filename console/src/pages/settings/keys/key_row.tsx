import { Button } from '@mantine/core'
import { readKeyState } from '../../../shared/keys/key_state.ts'
import type { Key } from '../../../shared/keys/keys_query.ts'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { PanelRow } from '../panel_row.tsx'

const TONES = { 'expires soon': 'warn', expired: 'idle', revoked: 'idle' } as const
const LABELS = { 'expires soon': 'Expires soon', expired: 'Expired', revoked: 'Revoked' } as const

interface KeyRowProps {
  row: Key
  isCurrent: boolean
  onRevoke: () => void
}

/** One key: name, beginning, last use, expiry. */
export function KeyRow({ row, isCurrent, onRevoke }: KeyRowProps) {
  const state = readKeyState(row, Date.now())
  const isUsable = state === 'valid' || state === 'expires soon'
  return (
    <PanelRow
      name={
        <>
          {row.name ? <ForeignText isMono>{row.name}</ForeignText> : <span>Without a name</span>}
          {state !== 'valid' && <StatusBadge tone={TONES[state]}>{LABELS[state]}</StatusBadge>}
          {isCurrent && <StatusBadge tone="good">Of this session</StatusBadge>}
          {row.agent_id && <StatusBadge tone="idle">For an agent only</StatusBadge>}
        </>
      }
      facts={
        <>
          {row.prefix && <ForeignText isMono>{`${row.prefix}…`}</ForeignText>}
          <span>
            {row.last_used_at ? (
              <>
                Used <TimeText isAge>{row.last_used_at}</TimeText>
              </>
            ) : (
              'Never used'
            )}
          </span>
          <span>
            Created <TimeText>{row.created_at}</TimeText>
            {row.created_by_name && row.created_by !== row.user_id && (
              <>
                {' by '}
                <ForeignText isMono>{row.created_by_name}</ForeignText>
              </>
            )}
          </span>
          {row.revoked_at && (
            <span>
              Revoked <TimeText>{row.revoked_at}</TimeText>
            </span>
          )}
          <span>
            {row.expires_at ? (
              <>
                Expires <TimeText>{row.expires_at}</TimeText>
              </>
            ) : (
              'Does not expire'
            )}
          </span>
        </>
      }
      actions={
        isUsable && (
          <Button size="xs" variant="default" onClick={onRevoke}>
            Revoke
          </Button>
        )
      }
    />
  )
}
