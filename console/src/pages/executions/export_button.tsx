import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { api, unwrap } from '../../shared/api/client.ts'
import { saveFile } from '../../shared/copy/save_file.ts'
import { formatBytes } from '../../shared/format/numbers.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import type { ExecutionsSearch } from './executions_search.ts'

// What a page can hold in memory; the command line has no such limit.
const MAX_CHARACTERS = 50_000_000

/** Saves the journal with its hash chain as JSON Lines; for admins. */
export function ExportButton({ search }: { search: ExecutionsSearch }) {
  const [size, setSize] = useState<number>()
  const run = async () => {
    const parts: string[] = []
    let total = 0
    let cursor: string | undefined
    setSize(0)
    try {
      do {
        const query = { since: search.since, until: search.until, cursor }
        let next: string | null = null
        const request = api.GET('/v1/executions/export', { params: { query }, parseAs: 'text' })
        const text = (await unwrap(
          request.then((answer) => {
            next = answer.response.headers.get('X-Next-Cursor')
            return answer
          }),
        )) as string
        parts.push(text)
        total += text.length
        setSize(total)
        cursor = next ?? undefined
      } while (cursor !== undefined && total < MAX_CHARACTERS)
      saveFile(parts, 'executions.jsonl')
      if (cursor !== undefined) {
        const message = `It has the first ${formatBytes(total)}. For all of it: pegboard audit export`
        notifications.show({ color: 'yellow', title: 'The export is cut', message, autoClose: false })
      }
    } catch (error) {
      notifications.show({ color: 'red', title: 'Not exported', message: (error as Error).message })
    } finally {
      setSize(undefined)
    }
  }
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<Icon name="download" size={14} />}
      title="All calls of the time that is filtered, with their hash chain, as JSON Lines"
      disabled={size !== undefined}
      onClick={() => void run()}
    >
      {size === undefined ? 'Export' : `Export: ${formatBytes(size)}`}
    </Button>
  )
}
