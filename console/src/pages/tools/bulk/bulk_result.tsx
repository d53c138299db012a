import { Alert, Text } from '@mantine/core'
import { Icon } from '../../../shared/icons/icon.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import classes from './bulk.module.css'
import { type BulkResult, countTools } from './use_bulk.ts'

const MOST = 50

/** Which tools an action failed for, and why. */
export function BulkResultNote({ result, onClose }: { result: BulkResult; onClose: () => void }) {
  const { done, succeeded, failed, left } = result
  return (
    <Alert
      color={failed.length > 0 ? 'red' : 'yellow'}
      variant="light"
      mb="sm"
      icon={<Icon name="alert" />}
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
      title={`${done} ${countTools(succeeded)}${failed.length > 0 ? `, failed for ${failed.length}` : ''}`}
    >
      {left > 0 && <Text size="sm">Stopped: {countTools(left)} were left as they are.</Text>}
      {failed.length > 0 && (
        <ul className={classes.failed}>
          {failed.slice(0, MOST).map(({ item, error }) => (
            <li key={item.id}>
              <ForeignText isMono limit={120}>
                {item.name}
              </ForeignText>
              : <ForeignText limit={300}>{error?.message}</ForeignText>
            </li>
          ))}
          {failed.length > MOST && <li>{failed.length - MOST} more, which are still selected</li>}
        </ul>
      )}
    </Alert>
  )
}
