import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { dialectsQuery } from './dialects_query.ts'
import { type DialectAbility, findDialect, listNames } from './find_dialect.ts'

interface DialectSelectProps extends Pick<NativeSelectProps, 'size' | 'flex' | 'maw' | 'aria-label'> {
  label?: string
  /** Which dialects are listed. */
  ability: DialectAbility
  /** A name or alias of a dialect; empty only with `none`. */
  value: string
  onChange: (dialect: string) => void
  /** The text of a choice without a dialect, such as "Detect". */
  none?: string
}

/** Chooses one of the board's dialects. */
export function DialectSelect({ ability, value, onChange, none, ...rest }: DialectSelectProps) {
  const all = useQuery(dialectsQuery).data ?? []
  const names = listNames(all, ability)
  const chosen = findDialect(all, value, ability) ?? value
  // The chosen one also while the list is loading, and if the address has an unknown one.
  const shown = chosen === '' || names.includes(chosen) ? names : [chosen, ...names]
  return (
    <NativeSelect
      {...rest}
      value={chosen}
      data={[...(none === undefined ? [] : [{ value: '', label: none }]), ...shown]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
