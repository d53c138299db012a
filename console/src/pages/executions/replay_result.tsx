import { Anchor, Group, Stack, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ResultView } from '../../shared/result/result_view.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import classes from './execution_panel.module.css'
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        <section className={classes.differences} tabIndex={0} aria-label="Differences">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Where</Table.Th>
                <Table.Th>Recorded</Table.Th>
                <Table.Th>Now</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {differences.map(({ path, change, before, after }) => (
                <Table.Tr key={path}>
                  <Table.Td>
                    <ForeignText isMono limit={200}>
                      {path}
                    </ForeignText>
                  </Table.Td>
                  <Table.Td>{change === 'added' ? <Absent /> : <Value value={before} />}</Table.Td>
                  <Table.Td>{change === 'removed' ? <Absent /> : <Value value={after} />}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
      {more && <Text size="sm">There are more differences.</Text>}
      <ResultView value={result.success ? result.result : result} />
    </Stack>
  )
}

function Absent() {
  return (
    <Text span size="xs" c="dimmed">
      absent
    </Text>
  )
}

function Value({ value }: { value: unknown }) {
  return (
    <ForeignText isMono limit={300}>
      {JSON.stringify(value)}
    </ForeignText>
  )
}
