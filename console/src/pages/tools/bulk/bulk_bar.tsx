import { Button, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { kindsQuery } from '../../../shared/definition/kinds_query.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { useShortcuts } from '../../../shared/keyboard/use_shortcuts.ts'
import { restoreTool } from '../../../shared/tool/restore_tool.ts'
import classes from './bulk.module.css'
import { changeTags, deleteTool, setActive, type Tool } from './bulk_requests.ts'
import { type BulkAction, countTools, type useBulk } from './use_bulk.ts'

const TagDialog = lazy(() => import('./tag_dialog.tsx'))
const AgentDialog = lazy(() => import('./agent_dialog.tsx'))

const ACTIVATE: BulkAction = {
  done: 'Activated',
  run: (tool) => setActive(tool, true),
  undo: (tool) => (tool.is_active === false ? setActive(tool, false) : Promise.resolve()),
}
const DEACTIVATE: BulkAction = {
  done: 'Deactivated',
  run: (tool) => setActive(tool, false),
  undo: (tool) => (tool.is_active === false ? Promise.resolve() : setActive(tool, true)),
}
const DELETE: BulkAction = { done: 'Deleted', run: deleteTool, undo: (tool) => restoreTool(tool.id) }
const RESTORE: BulkAction = { done: 'Restored', run: (tool) => restoreTool(tool.id), undo: deleteTool }

interface BulkBarProps {
  selected: readonly Tool[]
  /** Whether the list is that of deleted tools. */
  isDeleted: boolean
  bulk: ReturnType<typeof useBulk>
  onClear: () => void
}

/** What can be done with the selected tools. */
export function BulkBar({ selected, isDeleted, bulk, onClear }: BulkBarProps) {
  const queryClient = useQueryClient()
  const [dialog, setDialog] = useState<'tag' | 'agent'>()
  useShortcuts({ Escape: onClear })
  const run = (action: BulkAction) => void bulk.run(action, selected)
  const save = async () => {
    const [{ definition_schema }, { ToolExport }] = await Promise.all([
      queryClient.ensureQueryData(kindsQuery),
      import('./export_tools.ts'),
    ])
    const file = new ToolExport(definition_schema)
    const finish = (tools: Tool[]) => {
      if (!file.save(tools)) return
      const message = 'Another board refuses them. To move these tools, write the values as {{secret:NAME}} first'
      notifications.show({ color: 'yellow', title: 'Credentials in the file are masked', message, autoClose: false })
    }
    await bulk.run({ done: 'Exported', run: file.add, finish }, selected)
  }
  const { progress } = bulk
  return (
    <section className={classes.bar} aria-label="Selected tools">
      <Text size="sm" fw={600} role="status">
        {progress ? `${progress.done} of ${progress.of}` : `${countTools(selected.length)} selected`}
      </Text>
      {progress && (
        <Button size="xs" variant="default" onClick={bulk.stop}>
          Stop
        </Button>
      )}
      {!progress && isDeleted && (
        <Button size="xs" onClick={() => run(RESTORE)}>
          Restore
        </Button>
      )}
      {!progress && !isDeleted && (
        <>
          <Button size="xs" variant="default" onClick={() => run(ACTIVATE)}>
            Activate
          </Button>
          <Button size="xs" variant="default" onClick={() => run(DEACTIVATE)}>
            Deactivate
          </Button>
          <Button size="xs" variant="default" onClick={() => setDialog('tag')}>
            Tag
          </Button>
          <Button size="xs" variant="default" onClick={() => setDialog('agent')}>
            Put on an agent
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="download" size={14} />}
            title="A file for pegboard apply"
            onClick={() => void save()}
          >
            Export as YAML
          </Button>
          <Button size="xs" variant="default" onClick={() => run(DELETE)}>
            Delete
          </Button>
        </>
      )}
      {!progress && (
        <Button size="xs" variant="subtle" onClick={onClear}>
          Clear selection
        </Button>
      )}
      <Suspense>
        {dialog === 'tag' && (
          <TagDialog
            count={selected.length}
            onClose={() => setDialog(undefined)}
            onTag={(added, removed) => {
              setDialog(undefined)
              run({ done: 'Tagged', run: (tool) => changeTags(tool, added, removed) })
            }}
          />
        )}
        {dialog === 'agent' && (
          <AgentDialog
            tools={selected}
            onClose={() => setDialog(undefined)}
            onDone={() => {
              setDialog(undefined)
              onClear()
            }}
          />
        )}
      </Suspense>
    </section>
  )
}
