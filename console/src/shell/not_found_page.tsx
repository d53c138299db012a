import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../shared/states/empty_state.tsx'
import { PageHeader } from '../shared/states/page_header.tsx'

/** For an address that is no page. */
export function NotFoundPage() {
  return (
    <>
      <PageHeader title="No such page" />
      <EmptyState title="This address is no page of the console">
        <Text size="sm">
          Go to the{' '}
          <Anchor underline="always" renderRoot={(props) => <Link to="/tools" {...props} />}>
            tools
          </Anchor>
          , or press Ctrl K to search.
        </Text>
      </EmptyState>
    </>
  )
}
