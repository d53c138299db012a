import { Code, List, Stack, Text } from '@mantine/core'
import { ActionButton } from '../../../shared/action/action_button.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { Icon } from '../../../shared/icons/icon.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { Panel } from '../panel.tsx'

/** Encrypts all credentials of the board again with a new key; for admins. */
export function EncryptionKey() {
  const rotate = useAction({ run: () => unwrap(api.POST('/v1/secrets/rotate')), changes: [['board']] })
  const report = rotate.data
  return (
    <Panel
      title="Encryption key of the board"
      note="It encrypts the secrets and credentials of all users. A rotation adds a new key, encrypts everything again while the board serves calls, and then removes the old key. Run it again if it was interrupted."
      actions={
        <ActionButton
          size="xs"
          variant="default"
          leftSection={<Icon name="refresh" size={14} />}
          action={rotate}
          what="The rotation"
        >
          Rotate
        </ActionButton>
      }
    >
      <Stack gap="xs" role="status">
        {report && (
          <Text size="sm">
            Encrypted {report.sealed.toLocaleString('en')} of {report.total.toLocaleString('en')} values again, with key{' '}
            <Code>{report.key_id}</Code>
            {report.finished ? '.' : '. The old key stays until the values below are set again or removed.'}
          </Text>
        )}
        {report?.note && (
          <Text size="sm">
            <ForeignText>{report.note}</ForeignText>
          </Text>
        )}
        {report && report.skipped.length > 0 && (
          <List size="sm">
            {report.skipped.slice(0, SHOWN_ROWS).map((row) => (
              <List.Item key={`${row.table} ${row.id}`}>
                {row.table} <ForeignText isMono>{row.id}</ForeignText>: <ForeignText>{row.reason}</ForeignText>
              </List.Item>
            ))}
          </List>
        )}
        {report && report.skipped.length > SHOWN_ROWS && (
          <Text size="sm">{(report.skipped.length - SHOWN_ROWS).toLocaleString('en')} more</Text>
        )}
      </Stack>
    </Panel>
  )
}

const SHOWN_ROWS = 20
