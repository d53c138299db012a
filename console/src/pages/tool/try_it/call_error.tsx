import { Alert, Code, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Icon } from '../../../shared/icons/icon.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { codesQuery } from '../../../shared/tool/codes_query.ts'

/** Why a call failed, what its code means and what to do. */
export function CallError({ code, error }: { code: string; error: string | undefined }) {
  const explanation = useQuery(codesQuery).data?.get(code)
  return (
    <Alert color="red" variant="light" icon={<Icon name="alert" />} title={explanation?.meaning ?? 'The call failed'}>
      <Stack gap={6}>
        <Text size="sm">
          <ForeignText limit={4000}>{error}</ForeignText>
        </Text>
        {explanation && <Text size="sm">{explanation.remedy}</Text>}
        <Text size="xs">
          Code <Code>{code}</Code>
        </Text>
      </Stack>
    </Alert>
  )
}
