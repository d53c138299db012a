import { Button, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { Schemas } from '../../../shared/api/client.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { VersionItem } from './version_item.tsx'
import { versionsQuery } from './versions_query.ts'
import classes from './versions_tab.module.css'

const route = getRouteApi('/tools/$ref')

/** Every version of a tool, newest first: who saved it and when, and what it changed. */
export default function VersionsTab({ tool }: { tool: Schemas['ToolResponse'] }) {
  const { version: open } = route.useSearch()
  const navigate = route.useNavigate()
  const versions = useInfiniteQuery(versionsQuery(tool.id))
  const items = versions.data ?? []
  const [current] = items
  const hasOpened = open === undefined || items.some(({ version }) => version === open)
  const toggle = (version: number) =>
    void navigate({
      search: (all) => ({ ...all, version: open === version ? undefined : version }),
      replace: open !== undefined,
      resetScroll: false,
    })
  if (versions.error && !versions.data) {
    return <ErrorState error={versions.error} what="The versions" retry={() => void versions.refetch()} />
  }
  if (!versions.data || !current) return <ListOutline rows={4} />
  return (
    <Stack gap="sm">
      {!hasOpened && (
        <Text size="sm" role="status">
          {versions.hasNextPage
            ? `Version ${open} is not in the list yet; older versions are below.`
            : `There is no version ${open}.`}
        </Text>
      )}
      <ol className={classes.versions} aria-label="Versions">
        {items.map((version, place) => (
          <VersionItem
            key={version.version}
            tool={tool}
            version={version}
            before={items[place + 1]}
            current={current}
            isFirst={place === items.length - 1 && !versions.hasNextPage}
            isOpen={version.version === open}
            onToggle={() => toggle(version.version)}
          />
        ))}
      </ol>
      {versions.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          loading={versions.isFetchingNextPage}
          onClick={() => void versions.fetchNextPage()}
          style={{ alignSelf: 'flex-start' }}
        >
          Older versions
        </Button>
      )}
    </Stack>
  )
}
