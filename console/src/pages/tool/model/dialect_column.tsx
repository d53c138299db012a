import { Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../../shared/api/client.ts'
import { CopyText } from '../../../shared/copy/copy_button.tsx'
import { FindingList } from '../../../shared/declaration/finding_list.tsx'
import { LongText } from '../../../shared/result/long_text.tsx'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { type Declared, declarationQuery } from './model_query.ts'
import classes from './model_tab.module.css'

interface DialectColumnProps {
  dialect: string
  declared: Declared
  /** What is found in the declaration; undefined while it is loading. */
  linted: Schemas['LintedProvider'] | undefined
  /** The tokens of the saved version, if another one is shown. */
  savedTokens: number | undefined
}

/** The declaration of a tool in one dialect, its tokens, and what its provider would refuse or misread. */
export function DialectColumn({ dialect, declared, linted, savedTokens }: DialectColumnProps) {
  const declaration = useQuery(declarationQuery(declared, dialect))
  const tool = linted?.tools[0]
  return (
    <section className={classes.column} aria-label={dialect} aria-busy={declaration.isPlaceholderData}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Title order={3} size="h5" ff="monospace">
            {dialect}
          </Title>
          {declaration.data !== undefined && <CopyText text={declaration.data} label={`Copy for ${dialect}`} isIcon />}
        </Group>
        {tool && (
          <Text size="sm">
            About <strong>{tool.tokens.toLocaleString('en')} tokens</strong>
            {savedTokens !== undefined && describeChange(tool.tokens - savedTokens)}
          </Text>
        )}
        {tool && tool.name !== tool.tool && (
          <Text size="sm">
            Declared as{' '}
            <ForeignText isMono limit={120}>
              {tool.name}
            </ForeignText>
          </Text>
        )}
        {tool && tool.findings.length === 0 && (
          <Text size="sm" c="dimmed">
            Nothing is refused or misread.
          </Text>
        )}
        {tool && <FindingList findings={[...(linted?.findings ?? []), ...tool.findings]} />}
        {declaration.error && !declaration.data && (
          <ErrorState
            error={declaration.error}
            what={`The declaration for ${dialect}`}
            retry={() => void declaration.refetch()}
          />
        )}
        {declaration.isPending && <ListOutline rows={4} />}
        {declaration.data !== undefined && (
          <LongText text={declaration.data} label={`Declaration for ${dialect}`} fileName={`${dialect}.json`} />
        )}
      </Stack>
    </section>
  )
}

function describeChange(tokens: number): string {
  if (tokens === 0) return ', as the saved version'
  return `, ${Math.abs(tokens).toLocaleString('en')} ${tokens > 0 ? 'more' : 'fewer'} than the saved version`
}
