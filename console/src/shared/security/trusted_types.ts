interface PolicyFactory {
  createPolicy(
    name: string,
    rules: Record<'createHTML' | 'createScript' | 'createScriptURL', (text: string) => string>,
  ): unknown
}

/** Install the default policy: text is no markup, no text is a script, and scripts come from our own origin. */
export function installTrustedTypes(): void {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes
  factory?.createPolicy('default', {
    createHTML: refuseMarkup,
    createScript: refuseScript,
    createScriptURL: refuseOrigin,
  })
}

/** Return the text; Mantine writes its styles with it. Throw if it could be markup. */
export function refuseMarkup(text: string): string {
  if (text.includes('<')) throw new TypeError('Text with markup is not written into the page')
  return text
}

function refuseScript(): never {
  throw new TypeError('Text is not run as a script')
}

function refuseOrigin(url: string): string {
  if (new URL(url, document.baseURI).origin !== window.location.origin) {
    throw new TypeError('Scripts come from the server of this page only')
  }
  return url
}
