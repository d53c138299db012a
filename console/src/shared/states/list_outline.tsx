import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import { Delayed } from './delayed.tsx'

/** The outline of a list that is loading. */
export function ListOutline({ rows = 8 }: { rows?: number }) {
  return (
    <Delayed>
      <Stack gap="sm" py="sm" aria-busy="true">
        <VisuallyHidden>Loading</VisuallyHidden>
        {Array.from({ length: rows }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: equal bars
          <Skeleton key={index} height={30} />
        ))}
      </Stack>
    </Delayed>
  )
}
