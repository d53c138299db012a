import { Alert, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Kind } from '../../shared/definition/kinds_query.ts'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import classes from './kind_choice.module.css'

interface KindChoiceProps {
  kinds: Kind[]
  isAdmin: boolean
  /** The kind of the address, if the board has none of this name. */
  unknown: string | undefined
}

/** The kinds of tools with what they are for; those that this user may not register say why. */
export function KindChoice({ kinds, isAdmin, unknown }: KindChoiceProps) {
  return (
    <>
      {unknown !== undefined && (
        <Alert color="yellow" variant="light" mb="md" title="This board has no such kind of tool">
          The address names the kind “{spellHidden(unknown.slice(0, 80))}”. Choose one of these.
        </Alert>
      )}
      <Title order={2} mb={4}>
        What does the tool run?
      </Title>
      <ul className={classes.kinds}>
        {kinds.map((kind) => {
          const isAllowed = isAdmin || kind.registered_by !== 'admins'
          const about = (
            <>
              <Text fw={600} ff="monospace">
                <ForeignText limit={60}>{kind.name}</ForeignText>
              </Text>
              <Text size="sm">
                <ForeignText limit={300}>{kind.purpose}</ForeignText>
              </Text>
              {kind.restriction && (
                <Text size="xs" c="dimmed" mt={4}>
                  <ForeignText limit={300}>{kind.restriction}</ForeignText>
                </Text>
              )}
            </>
          )
          return (
            <li key={kind.name}>
              {isAllowed ? (
                <Link to="/tools/new" search={{ kind: kind.name }} className={classes.kind}>
                  {about}
                </Link>
              ) : (
                <div className={`${classes.kind} ${classes.refused}`}>{about}</div>
              )}
            </li>
          )
        })}
      </ul>
    </>
  )
}
