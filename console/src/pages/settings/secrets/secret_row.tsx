import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { PanelRow } from '../panel_row.tsx'
import type { Secret } from './secrets_query.ts'

const SHOWN_USES = 10

interface SecretRowProps {
  secret: Secret
  onReplace: () => void
  onRemove: () => void
}

/** One secret: its name, when it was set, what uses it. */
export function SecretRow({ secret, onReplace, onRemove }: SecretRowProps) {
  const shown = secret.used_by.slice(0, SHOWN_USES)
  return (
    <PanelRow
      name={<ForeignText isMono>{secret.name}</ForeignText>}
      facts={
        <>
          <span>
            Set <TimeText>{secret.updated_at}</TimeText>
          </span>
          <span>
            {secret.uses === 0 && 'Not used by any tool'}
            {shown.length > 0 && 'Used by '}
            {shown.map((use, place) => (
              <Fragment key={use.id}>
                {place > 0 && ', '}
                {use.type === 'tool' ? (
                  <Anchor
                    underline="always"
                    size="sm"
                    renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: use.name }} {...props} />}
                  >
                    <ForeignText isMono limit={80}>
                      {use.name}
                    </ForeignText>
                  </Anchor>
                ) : (
                  <>
                    the MCP server{' '}
                    <ForeignText isMono limit={80}>
                      {use.name}
                    </ForeignText>
                  </>
                )}
              </Fragment>
            ))}
            {secret.uses > shown.length && ` and ${secret.uses - shown.length} more`}
          </span>
        </>
      }
      actions={
        <>
          <Button size="xs" variant="default" onClick={onReplace} aria-label={`Replace the value of ${secret.name}`}>
            Replace
          </Button>
          <Button size="xs" variant="default" onClick={onRemove} aria-label={`Remove ${secret.name}`}>
            Remove
          </Button>
        </>
      }
    />
  )
}
