import { Group, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

interface PageHeaderProps {
  title: string
  aside?: ReactNode
  children?: ReactNode
}

/** The heading of a page, which is also the title of the window. */
export function PageHeader({ title, aside, children }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Pegboard`
  }, [title])
  return (
    <Group justify="space-between" align="center" gap="sm" mb="md">
      <Group gap="sm" align="baseline">
        <Title order={1}>{title}</Title>
        {aside}
      </Group>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  )
}
