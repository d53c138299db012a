import { spellHidden } from '../../../shared/text/visible_text.ts'
import type { Secret } from './secrets_query.ts'

const NAMED = 10

/** Return what happens when a secret is removed, a sentence each. */
export function describeEffects({ used_by, uses }: Pick<Secret, 'used_by' | 'uses'>): string[] {
  const effects = ['Its value is deleted.']
  if (uses === 0) return [...effects, 'No tool of yours uses it.']
  const names = used_by
    .slice(0, NAMED)
    .map(({ type, name }) => (type === 'tool' ? spellHidden(name) : `the MCP server ${spellHidden(name)}`))
  const more = uses - names.length
  const list = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
  return [...effects, `Calls fail until you set it again: ${list}.`]
}
