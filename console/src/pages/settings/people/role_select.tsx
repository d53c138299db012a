import { NativeSelect } from '@mantine/core'
import type { User } from './users_query.ts'

const ROLES = [
  { value: 'member', label: 'Member: own tools, public tools, own calls' },
  { value: 'admin', label: 'Admin: sees and changes all of the board' },
]

interface RoleSelectProps {
  value: User['role']
  onChange: (role: User['role']) => void
}

/** Chooses a role. */
export function RoleSelect({ value, onChange }: RoleSelectProps) {
  return (
    <NativeSelect
      label="Role"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value === 'admin' ? 'admin' : 'member')}
      data={ROLES}
    />
  )
}
