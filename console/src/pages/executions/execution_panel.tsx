import { CloseButton, Group, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import type { PartChoice } from './execution_actions.tsx'
import { ExecutionDetails } from './execution_details.tsx'
import classes from './execution_panel.module.css'
import { executionQuery } from './executions_query.ts'
import { STATUS_TEXT } from './status_text.ts'

interface ExecutionPanelProps extends PartChoice {
  id: string
  onClose: () => void
}

/** One row of the journal, beside the list. */
export function ExecutionPanel({ id, part, onPart, onClose }: ExecutionPanelProps) {
  const row = useQuery(executionQuery(id))
  const panel = useRef<HTMLElement>(null)
  const isLoaded = row.data !== undefined
  useEffect(() => {
    if (isLoaded && panel.current && panel.current.getBoundingClientRect().top < 0) panel.current.scrollIntoView()
  }, [isLoaded])
  return (
    <aside ref={panel} className={classes.panel} aria-label="Execution">
      <Group justify="space-between" wrap="nowrap" align="start" mb="sm">
        <Title order={2}>
          {row.data ? (
            <ForeignText isMono limit={120}>
              {row.data.tool_name}
            </ForeignText>
          ) : (
            'Execution'
          )}
        </Title>
        <Group gap="xs" wrap="nowrap">
          {row.data && (
            <StatusBadge tone={STATUS_TEXT[row.data.status].tone} hasDot>
              {STATUS_TEXT[row.data.status].label}
            </StatusBadge>
          )}
          <CloseButton onClick={onClose} aria-label="Close" />
        </Group>
      </Group>
      {row.error && <ErrorState error={row.error} what={`The execution ${id}`} retry={() => void row.refetch()} />}
      {row.isPending && !row.error && <ListOutline rows={5} />}
      {row.data && (
        <Stack gap="md">
          <ExecutionDetails row={row.data} part={part} onPart={onPart} />
        </Stack>
      )}
    </aside>
  )
}
