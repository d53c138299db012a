import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { kindsQuery } from '../../shared/definition/kinds_query.ts'
import { useMe } from '../../shared/session/use_me.ts'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { KindChoice } from './kind_choice.tsx'

const NewDefinition = lazy(() => import('./new_definition_editor.tsx'))
const route = getRouteApi('/tools/new')

/** Registers a tool: its kind, then its definition. */
export function NewToolPage() {
  const { kind } = route.useSearch()
  const { user } = useMe()
  const kinds = useQuery(kindsQuery)
  const chosen = kinds.data?.items.find((each) => each.name === kind)
  return (
    <>
      <Text size="sm" mb={6}>
        <Anchor renderRoot={(props) => <Link to="/tools" {...props} />}>Tools</Anchor>
      </Text>
      <PageHeader title="New tool" />
      {kinds.error && <ErrorState error={kinds.error} what="The kinds of tools" retry={() => void kinds.refetch()} />}
      {kinds.isPending && <ListOutline rows={6} />}
      {kinds.data && !chosen && <KindChoice kinds={kinds.data.items} isAdmin={user.role === 'admin'} unknown={kind} />}
      {kinds.data && chosen && (
        <Suspense fallback={<ListOutline rows={6} />}>
          <NewDefinition key={chosen.name} kind={chosen} schema={kinds.data.definition_schema} />
        </Suspense>
      )}
    </>
  )
}
