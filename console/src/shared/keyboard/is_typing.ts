const RESERVED = 'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"]'

/** Return whether a key press belongs to a field, a menu or a dialog, so that it is no shortcut. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return true
  const target = event.target as HTMLElement | null
  if (!target?.closest) return false
  return target.closest(RESERVED) !== null
}
