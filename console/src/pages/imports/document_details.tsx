import { Anchor, Button, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import type { ApiDocument } from './imports_query.ts'
import classes from './source_panel.module.css'

/** What the board knows of an API document: the tools that have its tag. */
export function DocumentDetails({ document }: { document: ApiDocument }) {
  const { tag, servers, tools, active, updated_at: updatedAt } = document
  return (
    <>
      <dl className={classes.facts}>
        <dt>Servers</dt>
        <dd>
          <ForeignText isMono>{servers.join(', ')}</ForeignText>
        </dd>
        <dt>Tag</dt>
        <dd>
          <ForeignText isMono>{tag}</ForeignText>
        </dd>
        <dt>Tools</dt>
        <dd>
          <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/tools" search={{ tag }} {...props} />}>
            {tools} tools
          </Anchor>
          {active < tools && `, ${active} of them active`}
        </dd>
        <dt>Last changed</dt>
        <dd>
          <TimeText>{updatedAt}</TimeText>
        </dd>
      </dl>
      <Text size="sm">
        The board does not store the document, so it cannot notice changes. Import the new version: the dry run shows
        what is new, changed and gone.
      </Text>
      <Group>
        <Button
          variant="default"
          size="xs"
          renderRoot={(props) => <Link to="/imports/new" search={{ from: 'openapi' }} {...props} />}
        >
          Import it again
        </Button>
      </Group>
    </>
  )
}
