let code: string | undefined

/** Remove the one-time code from the address and its history, before the router follows a redirect. */
export function removeCodeFromAddress(): void {
  const found = new URLSearchParams(window.location.hash.slice(1)).get('code')
  if (found === null) return
  code = found
  window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)
}

/** Return the code of the address once; it works once. */
export function takeCode(): string | undefined {
  const taken = code
  code = undefined
  return taken
}
