import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../../shared/icons/icon.tsx'
import { useMe } from '../../shared/session/use_me.ts'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { TimeText } from '../../shared/time/time_text.tsx'
import { boardTroubleQuery, expiringKeysQuery, troubledUpstreamsQuery } from './attention_query.ts'
import type { Totals } from './totals.ts'
import { UpstreamTrouble } from './upstream_trouble.tsx'

// More would push the numbers off the screen.
const MOST = 8

/** What a person should look at; nothing if all is well. */
export function Attention({ totals, since }: { totals: Totals; since: string }) {
  const { user } = useMe()
  const upstreams = useQuery(troubledUpstreamsQuery).data ?? []
  const keys = useQuery(expiringKeysQuery(user.id)).data ?? []
  const board = useQuery({ ...boardTroubleQuery, enabled: user.role === 'admin' }).data
  const items: { key: string; content: ReactNode }[] = [
    ...(board?.reasons ?? []).map((reason) => ({ key: reason, content: <ForeignText>{reason}</ForeignText> })),
    ...(board?.checks ?? []).map(({ check, message, advice }) => ({
      key: `${check} ${message}`,
      content: (
        <>
          {check}: <ForeignText limit={400}>{message}</ForeignText>
          {advice && (
            <>
              {'. '}
              <ForeignText limit={400}>{advice}</ForeignText>
            </>
          )}
        </>
      ),
    })),
    ...(totals.in_doubt > 0
      ? [
          {
            key: 'in doubt',
            content: (
              <>
                <Anchor
                  underline="always"
                  size="sm"
                  renderRoot={(props) => <Link to="/executions" search={{ status: 'in_doubt', since }} {...props} />}
                >
                  {totals.in_doubt === 1 ? '1 call' : `${totals.in_doubt} calls`}
                </Anchor>{' '}
                in doubt: the server ended before their results were recorded.
              </>
            ),
          },
        ]
      : []),
    ...upstreams.map((upstream) => ({ key: upstream.id, content: <UpstreamTrouble upstream={upstream} /> })),
    ...keys.map((key) => ({
      key: key.id,
      content: (
        <>
          Your key <ForeignText isMono>{key.name}</ForeignText> expires on <TimeText>{key.expires_at ?? ''}</TimeText>.{' '}
          <Anchor
            underline="always"
            size="sm"
            renderRoot={(props) => <Link to="/settings/$section" params={{ section: 'account' }} {...props} />}
          >
            Your keys
          </Anchor>
        </>
      ),
    })),
  ]
  if (items.length === 0) return null
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="alert" />} title="Needs attention" mb="md">
      <Stack gap={4}>
        {items.slice(0, MOST).map(({ key, content }) => (
          <Text size="sm" key={key}>
            {content}
          </Text>
        ))}
        {items.length > MOST && <Text size="sm">{items.length - MOST} more</Text>}
      </Stack>
    </Alert>
  )
}
