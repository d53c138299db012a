import type { Schemas } from '../../../shared/api/client.ts'

type Lint = Schemas['LintResponse']

/** What one tool costs, and which dialects refuse or misread its declaration. */
export interface ToolCost {
  least: number
  most: number
  refusedBy: string[]
  misreadBy: string[]
}

/** What all tools together cost in one dialect. */
export interface DialectCost {
  dialect: string
  tokens: number
  /** How many tools it refuses, and how many others it misreads. */
  refused: number
  misread: number
  /** What is wrong with all tools together, such as too many of them. */
  findings: string[]
}

/** Return the cost of each tool by its name, over all dialects of a lint. */
export function costByTool(lint: Lint): Map<string, ToolCost> {
  const costs = new Map<string, ToolCost>()
  for (const { dialect, tools } of lint.providers) {
    for (const { tool, tokens, findings } of tools) {
      const cost = costs.get(tool) ?? { least: tokens, most: tokens, refusedBy: [], misreadBy: [] }
      cost.least = Math.min(cost.least, tokens)
      cost.most = Math.max(cost.most, tokens)
      const worst = findWorst(findings)
      if (worst === 'refuse') cost.refusedBy.push(dialect)
      if (worst === 'misread') cost.misreadBy.push(dialect)
      costs.set(tool, cost)
    }
  }
  return costs
}

/** Return the cost of all tools together in each dialect of a lint. */
export function costByDialect(lint: Lint): DialectCost[] {
  return lint.providers.map(({ dialect, tokens, tools, findings }) => {
    const worst = tools.map((tool) => findWorst(tool.findings))
    return {
      dialect,
      tokens: tools.length === 0 ? 0 : tokens,
      refused: worst.filter((each) => each === 'refuse').length,
      misread: worst.filter((each) => each === 'misread').length,
      findings: findings.map((finding) => finding.message),
    }
  })
}

/** Return the difference of two counts with its sign, such as `+120`. */
export function formatChange(tokens: number, before: number): string {
  const change = tokens - before
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change).toLocaleString('en')}`
}

function findWorst(findings: Schemas['LintFinding'][]): 'refuse' | 'misread' | undefined {
  if (findings.some((finding) => finding.severity === 'refuse')) return 'refuse'
  return findings.some((finding) => finding.severity === 'misread') ? 'misread' : undefined
}
