import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Plugin } from 'vite'

const SOURCE = new URL('../src/scheme.js', import.meta.url)

/** Load `src/scheme.js` before the styles, as a file of its own: the policy allows no script in the page. */
export function emitSchemeScript(): Plugin {
  let fileName = ''
  return {
    name: 'scheme-script',
    apply: 'build',
    async generateBundle() {
      const source = await readFile(SOURCE, 'utf8')
      fileName = `assets/scheme-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`
      this.emitFile({ type: 'asset', fileName, source })
    },
    transformIndexHtml: {
      order: 'post',
      handler: () => [{ tag: 'script', attrs: { src: `__BASE_PATH__/console/${fileName}` }, injectTo: 'head-prepend' }],
    },
  }
}
