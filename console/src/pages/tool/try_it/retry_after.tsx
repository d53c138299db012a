import { Text } from '@mantine/core'
import { useEffect, useState } from 'react'

/** When a call that the rate limit refused is accepted again. The message of the error says it to screen readers. */
export function RetryAfter({ milliseconds }: { milliseconds: number }) {
  const [left, setLeft] = useState(milliseconds)
  useEffect(() => {
    const end = performance.now() + milliseconds
    const timer = setInterval(() => setLeft(end - performance.now()), 250)
    return () => clearInterval(timer)
  }, [milliseconds])
  return (
    <Text size="sm" fw={600} aria-hidden="true">
      {left > 0 ? `The next call is accepted in ${Math.ceil(left / 1000)} s.` : 'A call is accepted now.'}
    </Text>
  )
}
