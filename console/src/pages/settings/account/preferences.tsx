import { type MantineColorScheme, SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core'
import { usePreference } from '../../../shared/storage/preferences.ts'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { Panel } from '../panel.tsx'

const SCHEMES = [
  { value: 'auto', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]
const ZONES = [
  { value: 'local', label: 'Local time' },
  { value: 'utc', label: 'UTC' },
]
const EXAMPLE = new Date().toISOString()

/** How the console looks in this browser. */
export function Preferences() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [zone, setZone] = usePreference('time-zone', 'local')
  return (
    <Panel title="Preferences" note="They are stored in this browser only, and apply at once.">
      <Stack gap="md" align="flex-start">
        <Stack gap={4} align="flex-start">
          <Text size="sm" fw={500} id="scheme-label">
            Colours
          </Text>
          <SegmentedControl
            aria-labelledby="scheme-label"
            value={colorScheme}
            onChange={(value) => setColorScheme(value as MantineColorScheme)}
            data={SCHEMES}
          />
        </Stack>
        <Stack gap={4} align="flex-start">
          <Text size="sm" fw={500} id="zone-label">
            Times
          </Text>
          <SegmentedControl aria-labelledby="zone-label" value={zone} onChange={setZone} data={ZONES} />
          <Text size="sm" c="dimmed">
            This page was opened at <TimeText>{EXAMPLE}</TimeText>.
          </Text>
        </Stack>
      </Stack>
    </Panel>
  )
}
