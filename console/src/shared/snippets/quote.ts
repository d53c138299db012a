/** Return a text as one word of a POSIX shell. */
export function quoteShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Return a text as a Python literal; characters that could be misread are escaped. */
export function quotePython(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u00a0\u00ad\u061c\u200b-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ud800-\udfff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
