import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../../shared/api/api_error.ts'
import { dialectsQuery } from '../../../shared/dialect/dialects_query.ts'
import { findDialect } from '../../../shared/dialect/find_dialect.ts'
import { ErrorState } from '../../../shared/states/error_state.tsx'
import { ListOutline } from '../../../shared/states/list_outline.tsx'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { readDialects, writeDialects } from './dialect_choice.ts'
import { DialectChoiceRow } from './dialect_choice_row.tsx'
import { DialectColumn } from './dialect_column.tsx'
import { type Draft, placeFaults, startDraft, type Tool } from './draft.ts'
import { EditPart } from './edit_part.tsx'
import { lintQuery } from './model_query.ts'
import classes from './model_tab.module.css'
import { ProviderTable } from './provider_table.tsx'
import { useDeclared } from './use_declared.ts'

const route = getRouteApi('/tools/$ref')

interface ModelTabProps {
  tool: Tool
  canEdit: boolean
}

/** The declarations of a tool in several dialects, with tokens and findings, also before a change is saved. */
export default function ModelTab({ tool, canEdit }: ModelTabProps) {
  const { as } = route.useSearch()
  const navigate = route.useNavigate()
  const [draft, setDraft] = useState<Draft>()
  const { declared, isDraft } = useDeclared(tool, draft)
  const dialects = useQuery(dialectsQuery)
  const saved = useQuery(lintQuery({ id: tool.id, version: tool.version }))
  const linted = useQuery(lintQuery(declared))
  const chosen = readDialects(as)
  const known = chosen.flatMap((name) => (dialects.data && findDialect(dialects.data, name, 'define')) ?? [])
  const providers = linted.data?.providers ?? []
  const others = known.filter((name) => !providers.some(({ dialect }) => dialect === name))
  const more = useQuery({ ...lintQuery(declared, others), enabled: linted.data !== undefined && others.length > 0 })
  const all = [...providers, ...(more.data?.providers ?? [])]
  const isInvalid = linted.error instanceof ApiError && linted.error.status === 422
  const faults = isInvalid && linted.error instanceof ApiError ? linted.error.faults : []
  const choose = (next: string[]) =>
    void navigate({ search: (search) => ({ ...search, as: writeDialects(next) }), replace: true, resetScroll: false })
  const tokensOf = (name: string) => saved.data?.providers.find(({ dialect }) => dialect === name)?.tools[0]?.tokens
  return (
    <Stack gap="lg">
      <div className={draft ? classes.editing : undefined}>
        {draft && (
          <EditPart tool={tool} draft={draft} faults={placeFaults(faults)} onChange={setDraft} isChecked={!isInvalid} />
        )}
        <Stack gap="sm">
          <Group justify="space-between" gap="xs">
            <Title order={2}>Main providers</Title>
            {canEdit && !draft && (
              <Button size="xs" variant="default" onClick={() => setDraft(startDraft(tool))}>
                Edit what models get
              </Button>
            )}
          </Group>
          {tool.alias && (
            <Text size="sm">
              The name is too long for some providers, or not allowed there. They get{' '}
              <ForeignText isMono limit={120}>
                {tool.alias}
              </ForeignText>
              , and calls by that name reach the tool.
            </Text>
          )}
          {linted.error && !isInvalid && (
            <ErrorState error={linted.error} what="The findings" retry={() => void linted.refetch()} />
          )}
          {isInvalid && (
            <Text size="sm" role="status">
              The definition is not valid, so that nothing can be declared. Correct the fields with an error.
            </Text>
          )}
          {linted.isPending && <ListOutline rows={7} />}
          {linted.data && (
            <>
              <ProviderTable
                providers={providers}
                saved={isDraft ? saved.data?.providers : undefined}
                chosen={chosen}
                addTo={(dialect) => writeDialects([...chosen.filter((each) => each !== dialect), dialect])}
              />
              <Text size="xs" c="dimmed">
                Tokens are {lowerFirst(linted.data.counted)}.
              </Text>
            </>
          )}
        </Stack>
      </div>
      <Stack gap="sm">
        <Title order={2}>Declarations</Title>
        <DialectChoiceRow chosen={chosen} onChange={choose} />
        {!isInvalid && (
          <div className={classes.columns}>
            {known.map((dialect) => (
              <DialectColumn
                key={dialect}
                dialect={dialect}
                declared={declared}
                linted={all.find((each) => each.dialect === dialect)}
                savedTokens={isDraft ? tokensOf(dialect) : undefined}
              />
            ))}
          </div>
        )}
      </Stack>
    </Stack>
  )
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
