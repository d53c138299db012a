import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../../shared/api/client.ts'
import { writeDeclaration } from '../../../shared/declaration/declaration_text.ts'

/** What is declared: a saved version of a tool, or the part for models of one that is not saved, as JSON text. */
export type Declared = { id: string; version: number } | { draft: string }

// Each change while typing is a query of its own.
const DRAFT_KEPT_MS = 10_000

/** The tokens and findings of a tool; for the main providers, or for these dialects. */
export function lintQuery(declared: Declared, dialects?: string[]) {
  return queryOptions({
    queryKey: ['tool-lint', declared, dialects],
    queryFn: ({ signal }) => {
      const query = dialects ? { for: dialects } : {}
      if ('id' in declared) {
        return unwrap(api.GET('/v1/lint', { params: { query: { ...query, tool: [declared.id] } }, signal }))
      }
      return unwrap(api.POST('/v1/lint', { params: { query }, ...writeBody(declared.draft), signal }))
    },
    ...keep(declared),
  })
}

/** The declaration of a tool, as text with indentation. */
export function declarationQuery(declared: Declared, dialect: string) {
  return queryOptions({
    queryKey: ['tool-declaration', declared, dialect],
    queryFn: async ({ signal }) => {
      const query = { as: dialect }
      if ('id' in declared) {
        const params = { path: { ref: declared.id }, query }
        const body = await unwrap<string>(api.GET('/v1/tools/{ref}/definition', { params, parseAs: 'text', signal }))
        return writeDeclaration(body)
      }
      const request = { params: { query }, ...writeBody(declared.draft), parseAs: 'text' as const, signal }
      return writeDeclaration(await unwrap<string>(api.POST('/v1/definitions', request)), true)
    },
    ...keep(declared),
  })
}

/** The body is sent as it is typed, so that every digit arrives. */
function writeBody(draft: string) {
  return { body: { tools: [] }, bodySerializer: () => `{"tools":[${draft}]}` }
}

function keep(declared: Declared) {
  return 'id' in declared
    ? { placeholderData: keepPreviousData }
    : { placeholderData: keepPreviousData, gcTime: DRAFT_KEPT_MS, retry: false }
}
