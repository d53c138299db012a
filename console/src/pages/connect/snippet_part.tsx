import { Group, List, SegmentedControl, Stack, Title } from '@mantine/core'
import { CopyText } from '../../shared/copy/copy_button.tsx'
import classes from './connect_page.module.css'
import type { ConnectSearch } from './connect_search.ts'
import type { Way } from './ways.ts'

const TRANSPORTS = { http: 'Over HTTP', stdio: 'By a command' }

interface SnippetPartProps {
  way: Way
  over: 'stdio' | undefined
  onChange: (next: Partial<ConnectSearch>) => void
}

/** The text of one way to connect, and what to do with it. */
export function SnippetPart({ way, over, onChange }: SnippetPartProps) {
  const chosen = way.texts.find(({ transport }) => transport === (over ?? 'http')) ?? way.texts[0]
  if (!chosen) return null
  return (
    <section aria-label={way.title}>
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={2}>{way.title}</Title>
        <Group gap="xs">
          {way.texts.length > 1 && (
            <SegmentedControl
              size="xs"
              aria-label="How it connects"
              data={way.texts.map(({ transport }) => ({ value: transport, label: TRANSPORTS[transport] }))}
              value={chosen.transport}
              onChange={(next) => onChange({ over: next === 'stdio' ? 'stdio' : undefined })}
            />
          )}
          <CopyText text={chosen.text} label="Copy" />
        </Group>
      </Group>
      <Stack gap="sm">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <section className={classes.text} tabIndex={0} aria-label="Text to copy">
          <pre>{chosen.text}</pre>
        </section>
        <List size="sm" spacing={2}>
          {chosen.notes.map((note) => (
            <List.Item key={note}>{note}</List.Item>
          ))}
          {chosen.transport === 'stdio' && (
            <List.Item>The program pegboard must be installed on the machine of the client.</List.Item>
          )}
        </List>
      </Stack>
    </section>
  )
}
