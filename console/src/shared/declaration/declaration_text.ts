import { formatJson, parseExactly } from '../json/exact_json.ts'

/** Return declarations of the API with indentation, or the only one of a list; those for models without tools are text. */
export function writeDeclaration(body: string, isOnly = false): string {
  const all = parseExactly(body)
  const value = isOnly && Array.isArray(all) && all.length === 1 ? all[0] : all
  return typeof value === 'string' ? value : formatJson(value)
}
