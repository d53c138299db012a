import { ActionIcon, Menu, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Icon } from '../shared/icons/icon.tsx'
import { useLogOut } from '../shared/session/use_log_out.ts'
import { useMe } from '../shared/session/use_me.ts'
import { usePreference } from '../shared/storage/preferences.ts'
import { ForeignText } from '../shared/text/foreign_text.tsx'

/** Who is logged in, the time zone, and the way out. */
export function AccountMenu() {
  const { user } = useMe()
  const [zone, setZone] = usePreference('time-zone', 'local')
  const leave = useLogOut()
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon aria-label="Account">
          <Icon name="account" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Text size="sm" px="sm" py={6} fw={600}>
          <ForeignText isMono>{user.name}</ForeignText>
          <Text span size="xs" c="dimmed" ml={8} fw={400}>
            {user.role}
          </Text>
        </Text>
        <Menu.Divider />
        <Menu.Item closeMenuOnClick={false} onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}>
          Times: {zone === 'utc' ? 'UTC' : 'local'}
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="settings" size={16} />}
          renderRoot={(props) => <Link to="/settings/$section" params={{ section: 'account' }} {...props} />}
        >
          Keys and sessions
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="logout" size={16} />} onClick={() => void leave()}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
