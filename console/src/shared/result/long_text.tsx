import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { saveFile } from '../copy/save_file.ts'
import { formatBytes } from '../format/numbers.ts'
import { Icon } from '../icons/icon.tsx'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './result_view.module.css'

const STEP = 20_000
const MOST = 200_000

interface LongTextProps {
  text: string
  label: string
  fileName: string
}

/** Text of any length: the beginning, more on request, and all of it as a file. */
export function LongText({ text, label, fileName }: LongTextProps) {
  const [limit, setLimit] = useState(STEP)
  const left = text.length - limit
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      {/* biome-ignore lint/a11y/useSemanticElements: a section would not keep line breaks as they are */}
      <pre className={classes.text} tabIndex={0} role="region" aria-label={label}>
        <ForeignText limit={limit}>{text}</ForeignText>
      </pre>
      {left > 0 && (
        <Group gap="xs" mt={6}>
          <Text size="sm">
            The first {formatBytes(limit)} of {formatBytes(text.length)}.
          </Text>
          {limit < MOST && (
            <Button size="xs" variant="default" onClick={() => setLimit(Math.min(MOST, limit * 3))}>
              Show more
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="download" size={14} />}
            onClick={() => saveFile([text], fileName)}
          >
            Download all
          </Button>
        </Group>
      )}
    </>
  )
}
