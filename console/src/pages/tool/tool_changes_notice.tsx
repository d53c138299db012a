import { Alert, Anchor, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ActionButton } from '../../shared/action/action_button.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import type { Schemas } from '../../shared/api/client.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { restoreTool } from '../../shared/tool/restore_tool.ts'
import { toolQuery } from './tool_query.ts'

interface ToolChangesProps {
  tool: Schemas['ToolResponse']
  isGone: boolean
  formerName: string | undefined
}

/** What happened to a tool while its page is open: it was deleted or renamed. */
export default function ToolChangesNotice({ tool, isGone, formerName }: ToolChangesProps) {
  const queryClient = useQueryClient()
  const restore = useAction({ run: () => restoreTool(tool.id), changes: [['tool'], ['tool-list']] })
  return (
    <>
      {isGone && (
        <Alert color="yellow" variant="light" mb="md" icon={<Icon name="alert" />} title="This tool was deleted">
          <Group gap="sm">
            <Text size="sm">
              Or it is no longer visible to you. This page shows what it was, and what you typed is still here.
            </Text>
            {tool.config && (
              <ActionButton size="xs" variant="default" action={restore} what="The restoration">
                Restore it
              </ActionButton>
            )}
          </Group>
        </Alert>
      )}
      {!isGone && formerName !== undefined && (
        <Alert color="yellow" variant="light" mb="md" icon={<Icon name="alert" />} title="This tool was renamed">
          <Text size="sm">
            It was called <ForeignText isMono>{formerName}</ForeignText> when you opened this page.{' '}
            <Anchor
              size="sm"
              underline="always"
              // What is known of it, so that the page stays as it is.
              onClick={() => queryClient.setQueryData(toolQuery(tool.name).queryKey, tool)}
              renderRoot={(props) => (
                <Link to="/tools/$ref" params={{ ref: tool.name }} search={(all) => all} replace {...props} />
              )}
            >
              Use its new address
            </Anchor>
          </Text>
        </Alert>
      )}
    </>
  )
}
