import { Button, Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { Schemas } from '../../../shared/api/client.ts'
import { FilterInput } from '../../../shared/list/filter_input.tsx'
import classes from '../panel.module.css'
import { Panel } from '../panel.tsx'
import { SettingRow } from './setting_row.tsx'

const route = getRouteApi('/settings/$section')

/** The settings of the server that are not secret, filtered by name. */
export function BoardSettings({ settings }: { settings: Schemas['BoardResponse']['settings'] }) {
  const { q = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: string) =>
    void navigate({ search: (all) => ({ ...all, q: next || undefined }), replace: true, resetScroll: false })
  const wanted = q.trim().toUpperCase()
  const shown = Object.entries(settings)
    .map(([name, value]) => [`PEGBOARD_${name.toUpperCase()}`, value] as const)
    .filter(([name]) => name.includes(wanted))
    .sort(([one], [other]) => one.localeCompare(other))
  return (
    <Panel
      title="Settings of the server"
      note="As the server read them when it started, without those that are secret. They are set in its environment or in pegboard.toml."
    >
      <Group mb="sm">
        <FilterInput value={q} label="Filter settings" onChange={change} />
      </Group>
      {shown.length === 0 && (
        <Group gap="xs">
          <Text size="sm">No setting has this in its name.</Text>
          <Button size="xs" variant="default" onClick={() => change('')}>
            Remove the filter
          </Button>
        </Group>
      )}
      <dl className={classes.list}>
        {shown.map(([name, value]) => (
          <SettingRow key={name} name={name} value={value} />
        ))}
      </dl>
    </Panel>
  )
}
