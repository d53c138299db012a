import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { DifferenceList } from '../../shared/difference/difference_list.tsx'
import { Icon } from '../../shared/icons/icon.tsx'
import { compareVersions, type Tool } from './model/draft.ts'

interface NewerVersionProps {
  /** The version that the changes started from. */
  base: Tool
  /** The version that was saved meanwhile. */
  tool: Tool
  onKeep: () => void
  onDiscard: () => void
}

/** A version that was saved while the tool was edited here: what it changed, and what to do with one's own changes. */
export function NewerVersion({ base, tool, onKeep, onDiscard }: NewerVersionProps) {
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<Icon name="alert" />}
      title={`Version ${tool.version} was saved while you were editing version ${base.version}`}
    >
      <Stack gap="sm" align="flex-start">
        <Text size="sm">It changed this:</Text>
        <DifferenceList {...compareVersions(base, tool)} />
        <Group gap="xs">
          <Button size="xs" onClick={onKeep}>
            Apply my changes to version {tool.version}
          </Button>
          <Button size="xs" variant="default" onClick={onDiscard}>
            Discard my changes
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
