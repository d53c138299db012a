import type { Schemas } from '../../shared/api/client.ts'

export type ImportReport = Schemas['ImportResponse'] & Partial<Schemas['McpImportResponse']>

export const OUTCOMES = ['created', 'updated', 'drifted', 'unchanged', 'gone', 'left_out'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** One line of the report on an import. */
export interface ReportRow {
  key: string
  outcome: Outcome
  kind: 'tool' | 'prompt' | 'resource' | 'resource template'
  name: string
  /** Why it is left out, wholly or in part. */
  reasons: string[]
  /** The changed fields, as `{before, after}`. */
  fields: Record<string, unknown> | undefined
}

type Lists = Pick<ImportReport, 'created' | 'updated' | 'drifted' | 'unchanged' | 'gone' | 'changes'>

/** Return a line for each tool, prompt and resource of a report, and for each part that became nothing. */
export function listRows(report: ImportReport): ReportRow[] {
  const reasons = new Map<string, string[]>()
  for (const { name, reason } of report.left_out) {
    const known = reasons.get(name)
    if (known) known.push(reason)
    else reasons.set(name, [reason])
  }
  const rows = [
    ...listKind('tool', report, reasons),
    ...listKind('prompt', report.prompts, reasons),
    ...listKind('resource', report.resources, reasons),
    ...listKind('resource template', report.resource_templates, reasons),
  ]
  // What is left of the reasons belongs to no tool.
  const left = [...reasons].map(
    ([name, why]): ReportRow => ({
      key: `left_out ${name}`,
      outcome: 'left_out',
      kind: 'tool',
      name,
      reasons: why,
      fields: undefined,
    }),
  )
  return [...rows, ...left].sort((one, other) => OUTCOMES.indexOf(one.outcome) - OUTCOMES.indexOf(other.outcome))
}

/** Return how many rows there are of each outcome. */
export function countOutcomes(rows: ReportRow[]): Record<Outcome, number> {
  const counts = { created: 0, updated: 0, drifted: 0, unchanged: 0, gone: 0, left_out: 0 }
  for (const { outcome } of rows) counts[outcome] += 1
  return counts
}

function listKind(
  kind: ReportRow['kind'],
  lists: Lists | null | undefined,
  reasons: Map<string, string[]>,
): ReportRow[] {
  if (!lists) return []
  return (['created', 'updated', 'drifted', 'unchanged', 'gone'] as const).flatMap((outcome) =>
    lists[outcome].map((name): ReportRow => {
      const why = kind === 'tool' ? (reasons.get(name) ?? []) : []
      if (kind === 'tool') reasons.delete(name)
      return { key: `${kind} ${name}`, outcome, kind, name, reasons: why, fields: lists.changes[name] }
    }),
  )
}
