import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Icon } from '../icons/icon.tsx'
import { ForeignText } from '../text/foreign_text.tsx'
import { dialectsQuery } from './dialects_query.ts'
import { type DialectAbility, findDialect, findNearest } from './find_dialect.ts'

const CANNOT: Record<DialectAbility, string> = {
  parse: 'calls cannot be read in it',
  render: 'results cannot be written in it',
  define: 'tools cannot be declared in it',
  history: 'it is a format of calls and not of conversations',
}

interface UnknownDialectProps {
  /** The dialect that the address has. */
  wanted: string
  ability: DialectAbility
  onChange: (dialect: string) => void
}

/** What is wrong with the dialect of an address, and the nearest one that works. */
export function UnknownDialect({ wanted, ability, onChange }: UnknownDialectProps) {
  const all = useQuery(dialectsQuery).data
  if (all === undefined || findDialect(all, wanted, ability) !== undefined) return null
  const isKnown = all.some((each) => each.name === wanted || each.aliases.includes(wanted))
  const nearest = findNearest(all, wanted, ability)
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="alert" />} title="The address names no usable dialect">
      <Text size="sm">
        The dialect{' '}
        <ForeignText isMono limit={100}>
          {wanted}
        </ForeignText>{' '}
        {isKnown ? `cannot be used here: ${CANNOT[ability]}.` : 'does not exist.'}
      </Text>
      {nearest && (
        <Group mt="xs">
          <Button size="xs" variant="default" onClick={() => onChange(nearest)}>
            Use {nearest}
          </Button>
        </Group>
      )}
    </Alert>
  )
}
