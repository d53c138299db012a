import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './panel.module.css'

interface PanelProps {
  title: string
  note?: ReactNode
  /** Buttons beside the title. */
  actions?: ReactNode
  children: ReactNode
}

/** A part of a section with a title, and what can be done in it. */
export function Panel({ title, note, actions, children }: PanelProps) {
  const id = useId()
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <Group justify="space-between" align="flex-start" gap="sm" mb="sm">
        <Stack gap={2} flex="1 1 260px">
          <Title order={2} id={id}>
            {title}
          </Title>
          {note && (
            <Text size="sm" c="dimmed">
              {note}
            </Text>
          )}
        </Stack>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </section>
  )
}
