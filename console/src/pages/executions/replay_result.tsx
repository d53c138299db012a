import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { DifferenceList } from '../../shared/difference/difference_list.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ResultView } from '../../shared/result/result_view.tsx'
import type { Replay } from './replay_query.ts'

/** The result of a replay, and what differs from the recorded one. */
export function ReplayResult({ replay }: { replay: Replay }) {
  const { same, differences, more, note, result } = replay
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {same === true && (
          <StatusBadge tone="good" hasDot>
            Same result
          </StatusBadge>
        )}
        {same === false && (
          <StatusBadge tone="warn" hasDot>
            Different result
          </StatusBadge>
        )}
        {same === null && (
          <StatusBadge tone="idle" hasDot>
            Not compared
          </StatusBadge>
        )}
        {replay.arguments_changed && <StatusBadge tone="idle">Other arguments</StatusBadge>}
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="/executions" search={(all) => ({ ...all, open: replay.repeated_by })} {...props} />
          )}
        >
          Its row
        </Anchor>
      </Group>
      {note && <Text size="sm">{note}</Text>}
      {differences.length > 0 && (
        <DifferenceList differences={differences} isCut={more} before="Recorded" after="Now" />
      )}
      <ResultView value={result.success ? result.result : result} />
    </Stack>
  )
}
