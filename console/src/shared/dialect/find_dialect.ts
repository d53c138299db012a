/** What a page needs from a dialect: to read calls, or to write results, declarations or a history. */
export type DialectAbility = 'parse' | 'render' | 'define' | 'history'

export interface DialectEntry {
  name: string
  aliases: string[]
  abilities: string[]
}

/** Return the names of the dialects with an ability: the board's own first, then by name. */
export function listNames(all: DialectEntry[], ability: DialectAbility): string[] {
  const names = all.filter((each) => each.abilities.includes(ability)).map((each) => each.name)
  return [...names.filter((name) => name === 'plain'), ...names.filter((name) => name !== 'plain').sort()]
}

/** Return the name of the dialect that has this name or alias, or undefined. */
export function findDialect(all: DialectEntry[], wanted: string, ability: DialectAbility): string | undefined {
  const found = all.find((each) => each.name === wanted || each.aliases.includes(wanted))
  return found?.abilities.includes(ability) ? found.name : undefined
}

/** Return the dialect with the ability whose name or alias has the most pairs of letters in common with a text. */
export function findNearest(all: DialectEntry[], wanted: string, ability: DialectAbility): string | undefined {
  const pairs = listPairs(wanted.slice(0, 64))
  let best: string | undefined
  let most = 0
  for (const { name, aliases, abilities } of all) {
    if (!abilities.includes(ability)) continue
    for (const each of [name, ...aliases]) {
      const others = listPairs(each)
      const common = [...pairs].filter((pair) => others.has(pair)).length / Math.max(1, pairs.size + others.size)
      if (common <= most) continue
      most = common
      best = name
    }
  }
  return best
}

function listPairs(text: string): Set<string> {
  const letters = text.toLowerCase()
  return new Set(Array.from({ length: Math.max(0, letters.length - 1) }, (_, at) => letters.slice(at, at + 2)))
}
