import { CloseButton, Group } from '@mantine/core'
import { DialectSelect } from '../../../shared/dialect/dialect_select.tsx'
import { UnknownDialect } from '../../../shared/dialect/unknown_dialect.tsx'
import { MOST_DIALECTS } from './dialect_choice.ts'

interface DialectChoiceRowProps {
  chosen: string[]
  onChange: (chosen: string[]) => void
}

/** Chooses the dialects whose declarations are side by side. */
export function DialectChoiceRow({ chosen, onChange }: DialectChoiceRowProps) {
  const replace = (place: number, dialect: string) => onChange(chosen.with(place, dialect))
  return (
    <>
      <Group gap="sm" align="end">
        {chosen.map((dialect, place) => (
          <Group key={dialect} gap={2} align="end" wrap="nowrap">
            <DialectSelect
              size="xs"
              aria-label={`Dialect ${place + 1}`}
              ability="define"
              value={dialect}
              onChange={(next) => replace(place, next)}
            />
            {chosen.length > 1 && (
              <CloseButton
                aria-label={`Hide ${dialect}`}
                onClick={() => onChange(chosen.filter((each) => each !== dialect))}
              />
            )}
          </Group>
        ))}
        {chosen.length < MOST_DIALECTS && (
          <DialectSelect
            size="xs"
            aria-label="Add a dialect"
            ability="define"
            value=""
            none="Add a dialect"
            onChange={(next) => onChange([...chosen, next])}
          />
        )}
      </Group>
      {chosen.map((dialect, place) => (
        <UnknownDialect
          key={dialect}
          wanted={dialect}
          ability="define"
          onChange={(nearest) => replace(place, nearest)}
        />
      ))}
    </>
  )
}
