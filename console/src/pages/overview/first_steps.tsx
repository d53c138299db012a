import { Anchor, List, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { boardAddress } from '../../shared/api/base_path.ts'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import { writeCurl } from '../../shared/snippets/call_snippets.ts'
import classes from './overview_page.module.css'

/** What to do on a board without calls: three steps that work as they stand. */
export function FirstSteps({ span }: { span: string }) {
  const curl = writeCurl({ address: boardAddress(), tool: 'get_weather', arguments: { city: 'Lisbon' } })
  return (
    <section className={classes.card} aria-label="First steps">
      <Title order={2} mb={4}>
        No calls in the last {span}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Calls appear here as soon as a tool runs. To start:
      </Text>
      <List type="ordered" spacing="sm" size="sm">
        <List.Item>
          <Anchor underline="always" size="sm" renderRoot={(props) => <Link to="/tools" {...props} />}>
            Open a tool
          </Anchor>{' '}
          and call it with its form; on a board with demo tools, try{' '}
          <Anchor
            underline="always"
            size="sm"
            renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: 'get_weather' }} {...props} />}
          >
            get_weather
          </Anchor>
          .
        </List.Item>
        <List.Item>
          <Stack gap={6} align="flex-start">
            Make the same call from a terminal; PEGBOARD_KEY holds your key.
            <CopyText text={curl} label="Copy as curl" />
          </Stack>
        </List.Item>
        <List.Item>
          Import an API: <code>pegboard import openapi FILE</code>
        </List.Item>
      </List>
    </section>
  )
}
