/** Characters that are invisible, move the text around them or control a terminal. Line breaks and tabs are none. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu

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
