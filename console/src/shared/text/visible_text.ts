/** Characters that are invisible, move the text around them or control a terminal; not line breaks, tabs and the variant of emoji. */
const HIDDEN = /(?![\n\t]|\r\n|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

export interface TextPart {
  text: string
  isHidden: boolean
}

/** Return the text in parts; a hidden character is a part of its own, spelled out as `U+202E`. */
export function splitHidden(text: string): TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), isHidden: false })
    const code = match[0].codePointAt(0) ?? 0
    parts.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, '0')}`, isHidden: true })
    end = match.index + match[0].length
  }
  if (end < text.length || parts.length === 0) parts.push({ text: text.slice(end), isHidden: false })
  return parts
}

/** Return the text with hidden characters spelled out as `⟨U+202E⟩`, for attributes and titles. */
export function spellHidden(text: string): string {
  return splitHidden(text)
    .map((part) => (part.isHidden ? `⟨${part.text}⟩` : part.text))
    .join('')
}

/** Return at most `limit` characters, without half of a character at the end, and how many were left out. */
export function cutText(text: string, limit: number): { text: string; left: number } {
  if (text.length <= limit) return { text, left: 0 }
  const code = text.charCodeAt(limit - 1)
  const end = code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit
  return { text: text.slice(0, end), left: text.length - end }
}
