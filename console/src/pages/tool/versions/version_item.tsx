import { Group, Text, UnstyledButton } from '@mantine/core'
import { useMemo } from 'react'
import type { Schemas } from '../../../shared/api/client.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { StatusBadge } from '../../../shared/list/status_badge.tsx'
import { useMe } from '../../../shared/session/use_me.ts'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { compareToBefore, nameFields, type Version } from './version.ts'
import { VersionDetails } from './version_details.tsx'
import classes from './versions_tab.module.css'

interface VersionItemProps {
  tool: Schemas['ToolResponse']
  version: Version
  /** The version before; undefined for the first one, or if it is not loaded. */
  before: Version | undefined
  current: Version
  isFirst: boolean
  isOpen: boolean
  onToggle: () => void
}

/** One version: who saved it and when, the fields that it changed, and when it is opened, the difference. */
export function VersionItem(props: VersionItemProps) {
  const { tool, version, before, current, isFirst, isOpen, onToggle } = props
  const changed = useMemo(() => before && compareToBefore(version, before), [version, before])
  return (
    <li className={classes.version}>
      <UnstyledButton className={classes.heading} aria-expanded={isOpen} onClick={onToggle}>
        <Group gap="xs" wrap="nowrap" align="baseline">
          <span className={isOpen ? classes.opened : classes.closed}>
            <Icon name="chevron" size={14} />
          </span>
          <Text span fw={600}>
            Version {version.version}
          </Text>
          {version.version === current.version && <StatusBadge tone="good">Current</StatusBadge>}
          {isFirst && <StatusBadge tone="idle">First</StatusBadge>}
        </Group>
        <Text span size="sm" c="dimmed">
          <TimeText>{version.created_at}</TimeText> by <Author version={version} />
        </Text>
        {changed && (
          <Text span size="sm" className={classes.fields}>
            {changed.differences.length === 0 ? (
              'The same definition'
            ) : (
              <>
                Changed{' '}
                <ForeignText isMono limit={160}>
                  {nameFields(changed.differences)}
                </ForeignText>
              </>
            )}
          </Text>
        )}
      </UnstyledButton>
      {isOpen && <VersionDetails tool={tool} version={version} changed={changed} current={current} />}
    </li>
  )
}

function Author({ version }: { version: Version }) {
  const { user } = useMe()
  if (version.created_by === user.id) return 'you'
  if (version.created_by_name) {
    return (
      <ForeignText isMono limit={100}>
        {version.created_by_name}
      </ForeignText>
    )
  }
  return user.role === 'admin' ? 'a user who was removed' : 'an admin'
}
