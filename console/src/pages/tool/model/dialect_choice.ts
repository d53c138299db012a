/** How many declarations are side by side. */
export const MOST_DIALECTS = 3

const FIRST = ['openai_chat', 'anthropic_messages']

/** Return the dialects that `as` of the address names, each once. */
export function readDialects(as: string | undefined): string[] {
  const names = (as ?? '').split(',').map((name) => name.trim())
  const chosen = [...new Set(names.filter((name) => name !== ''))].slice(0, MOST_DIALECTS)
  return chosen.length > 0 ? chosen : FIRST
}

/** Return `as` of the address for these dialects. */
export function writeDialects(names: string[]): string {
  return [...new Set(names)].slice(-MOST_DIALECTS).join(',')
}
