import { Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { formatDuration } from '../../../shared/format/numbers.ts'

const STEP_MS = 100

/** How long a call has been running. */
export function ElapsedTime({ since }: { since: number }) {
  const [now, setNow] = useState(since)
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), STEP_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <Text size="sm" c="dimmed" aria-hidden="true">
      {formatDuration(now - since)}
    </Text>
  )
}
