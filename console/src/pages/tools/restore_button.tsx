import { notifications } from '@mantine/notifications'
import { ActionButton } from '../../shared/action/action_button.tsx'
import { useAction } from '../../shared/action/use_action.ts'
import type { Schemas } from '../../shared/api/client.ts'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { restoreTool } from '../../shared/tool/restore_tool.ts'

/** Restores a deleted tool. */
export function RestoreButton({ tool }: { tool: Schemas['ToolSummary'] }) {
  const restore = useAction({
    run: () => restoreTool(tool.id),
    changes: [['tool-list'], ['tool']],
    onDone: () => notifications.show({ message: `Restored ${spellHidden(tool.name)}` }),
  })
  return (
    <ActionButton size="compact-xs" variant="default" action={restore} what="The restoration">
      Restore
    </ActionButton>
  )
}
