import { ActionIcon, Button, CopyButton, Tooltip } from '@mantine/core'
import { Icon } from '../icons/icon.tsx'

interface CopyTextProps {
  text: string
  label: string
  isIcon?: boolean
}

/** Copies a text and says so. */
export function CopyText({ text, label, isIcon = false }: CopyTextProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) =>
        isIcon ? (
          <Tooltip label={copied ? 'Copied' : label}>
            <ActionIcon size="sm" onClick={copy} aria-label={copied ? 'Copied' : label}>
              <Icon name={copied ? 'check' : 'copy'} size={14} />
            </ActionIcon>
          </Tooltip>
        ) : (
          <Button
            size="xs"
            variant="default"
            onClick={copy}
            leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}
          >
            {copied ? 'Copied' : label}
          </Button>
        )
      }
    </CopyButton>
  )
}
