import { StatusBadge } from '../../shared/list/status_badge.tsx'

interface ToolStateProps {
  tool: { is_active?: boolean; is_deleted?: boolean; drifted?: boolean }
}

/** Whether calls of the tool are taken. */
export function ToolState({ tool }: ToolStateProps) {
  if (tool.is_deleted) return <StatusBadge tone="idle">Deleted</StatusBadge>
  if (tool.drifted) {
    return (
      <StatusBadge tone="warn" hasDot title="Its MCP server has changed it since the import">
        Drifted
      </StatusBadge>
    )
  }
  if (tool.is_active === false) return <StatusBadge tone="idle">Inactive</StatusBadge>
  return (
    <StatusBadge tone="quiet" hasDot>
      Active
    </StatusBadge>
  )
}
