import { Alert, Code, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Icon } from '../../../shared/icons/icon.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { codesQuery } from '../../../shared/tool/codes_query.ts'
import { RetryAfter } from './retry_after.tsx'

interface CallErrorProps {
  code: string
  error: string | undefined
  /** In how many milliseconds a refused call is accepted. */
  retryAfter: number | undefined
}

/** Why a call failed, what its code means and what to do. */
export function CallError({ code, error, retryAfter }: CallErrorProps) {
  const explanation = useQuery(codesQuery).data?.get(code)
  return (
    <Alert color="red" variant="light" icon={<Icon name="alert" />} title={explanation?.meaning ?? 'The call failed'}>
      <Stack gap={6}>
        <Text size="sm">
          <ForeignText limit={4000}>{error}</ForeignText>
        </Text>
        {explanation && <Text size="sm">{explanation.remedy}</Text>}
        {retryAfter !== undefined && <RetryAfter milliseconds={retryAfter} />}
        <Text size="xs">
          Code <Code>{code}</Code>
        </Text>
      </Stack>
    </Alert>
  )
}
