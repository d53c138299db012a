import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { Schemas } from '../../../shared/api/client.ts'
import { exactToolQuery } from '../../../shared/definition/definition_requests.ts'
import { kindsQuery } from '../../../shared/definition/kinds_query.ts'
import { EmptyState } from '../../../shared/states/empty_state.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'

const EditDefinition = lazy(() => import('./edit_definition_editor.tsx'))

/** Changes the definition of a tool. */
export default function EditTab({ tool }: { tool: Schemas['ToolResponse'] }) {
  const kinds = useQuery(kindsQuery)
  const exact = useQuery({ ...exactToolQuery(tool.id), enabled: tool.config !== null })
  if (tool.config === null || tool.config === undefined) {
    return (
      <EmptyState title="You cannot change this tool">
        <Text size="sm" c="dimmed">
          Only its owner and admins see its definition and change it.
        </Text>
      </EmptyState>
    )
  }
  const error = kinds.error ?? (exact.data ? null : exact.error)
  if (error) return <ErrorState error={error} what="The definition" retry={() => void exact.refetch()} />
  if (!kinds.data || !exact.data) return <ListOutline rows={6} />
  const kind = kinds.data.items.find((each) => each.name === exact.data.tool_type)
  return (
    <Suspense fallback={<ListOutline rows={6} />}>
      <EditDefinition
        key={tool.id}
        tool={exact.data}
        configSchema={kind?.config_schema ?? { type: 'object' }}
        schema={kinds.data.definition_schema}
      />
    </Suspense>
  )
}
