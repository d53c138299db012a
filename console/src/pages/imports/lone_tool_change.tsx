import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../shared/api/client.ts'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { acceptTool } from './accept_change.ts'
import { ChangeItem } from './change_item.tsx'
import { readToolChange } from './changes.ts'
import classes from './imports_page.module.css'
import { toolChangeQuery } from './imports_query.ts'

interface LoneToolChangeProps {
  tool: Schemas['ToolSummary']
  isOpen: boolean
}

/** A changed tool whose MCP server is not imported any more, or never was. */
export function LoneToolChange({ tool, isOpen }: LoneToolChangeProps) {
  const found = useQuery({ ...toolChangeQuery(tool.id), enabled: isOpen })
  const change = isOpen && found.data ? readToolChange(tool.name, found.data.changes) : undefined
  return (
    <section className={classes.card} aria-label={`Change of ${tool.name}`}>
      {!isOpen && (
        <Group justify="space-between" gap="xs">
          <Text size="sm">
            <ForeignText isMono>{tool.name}</ForeignText>, whose server is not imported
          </Text>
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => (
              <Link
                from="/imports"
                to="/imports"
                search={(all) => ({ ...all, open: tool.id })}
                resetScroll={false}
                {...props}
              />
            )}
          >
            Show the change
          </Button>
        </Group>
      )}
      {isOpen && found.error && (
        <ErrorState error={found.error} what={`Reading ${tool.name}`} retry={() => void found.refetch()} />
      )}
      {isOpen && found.isPending && !found.error && <ListOutline rows={2} />}
      {change && (
        <ChangeItem change={change} accept={() => acceptTool(change)} hasButton onAccepted={() => undefined} />
      )}
    </section>
  )
}
