import type { Schemas } from '../../../shared/api/client.ts'
import type { Comparison, Difference } from '../../../shared/difference/compare_values.ts'
import { compareValues } from '../../../shared/difference/compare_values.ts'

export type Version = Schemas['VersionResponse']

const SHOWN_FIELDS = 4

/** Return what a version changed in the one before it. */
export function compareToBefore(version: Version, before: Version): Comparison {
  return compareValues(withoutState(before), withoutState(version))
}

/** Return the fields of the definition that differ, in short. */
export function nameFields(differences: Difference[]): string {
  const fields = [...new Set(differences.map(({ path }) => path.split(/[.[]/)[0] ?? path))]
  const more = fields.length - SHOWN_FIELDS
  return fields.slice(0, SHOWN_FIELDS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Return the fields of an update that restores a version. Masked secrets in it stay as they are now. */
export function restoringFields(version: Version): Record<string, unknown> {
  return withoutState(version)
}

/** Return the definition without what is no part of it: whether its MCP server has changed it since. */
function withoutState({ definition }: Version): Record<string, unknown> {
  const { drifted: _drifted, ...fields } = definition
  return fields
}
