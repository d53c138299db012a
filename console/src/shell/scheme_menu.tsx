import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core'
import { Icon, type IconName } from '../shared/icons/icon.tsx'

const SCHEMES: { value: MantineColorScheme; label: string; icon: IconName }[] = [
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
  { value: 'auto', label: 'As the system', icon: 'system' },
]

/** Chooses the colour scheme. */
export function SchemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const current = SCHEMES.find((scheme) => scheme.value === colorScheme)
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label="Colour scheme">
          <Icon name={current?.icon ?? 'system'} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} size={16} />}
            rightSection={value === colorScheme && <Icon name="check" size={14} />}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
