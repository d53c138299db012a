import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface EmptyStateProps {
  title: string
  children?: ReactNode
}

/** Why there is nothing here, and the next step. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <Stack gap={6} align="center" py="xl" px="md" ta="center">
      <Text fw={600}>{title}</Text>
      {children}
    </Stack>
  )
}
