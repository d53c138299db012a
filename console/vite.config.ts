import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { emitLicences } from './build/licences.ts'
import { emitSchemeScript } from './build/scheme_script.ts'

const VENDOR =
  /node_modules\/(react|react-dom|scheduler|@mantine\/(core|hooks|notifications|spotlight|store)|@floating-ui|clsx|@tanstack|openapi-fetch|react-remove-scroll|react-number-format|tabbable)\//
const FORM = /node_modules\/(@rjsf|lodash|lodash-es|@cfworker|@mantine\/dates|dayjs|@x0k|json-schema|fast-)/
const EDITOR = /node_modules\/(@codemirror|@lezer|style-mod|w3c-keyname|crelt|@marijn)/
const YAML = /node_modules\/yaml\//

export default defineConfig({
  base: '/console/',
  plugins: [react(), emitSchemeScript(), emitLicences()],
  html: { cspNonce: '__CSP_NONCE__' },
  resolve: {
    alias: {
      // A helper for tests in @rjsf/core imports it; it needs `eval`, which the page's policy forbids.
      '@rjsf/validator-ajv8': '/src/shared/empty_module.ts',
      // Texts of tools are shown as they are, so @rjsf/core gets no parser for Markdown.
      'markdown-to-jsx/react': '/src/shared/form/plain_text.ts',
    },
  },
  experimental: {
    // Chunks are found relative to each other; only the page depends on a path prefix, which the server fills in.
    renderBuiltUrl: (file, { hostType }) =>
      hostType === 'html' ? `__BASE_PATH__/console/${file}` : { relative: true },
  },
  build: {
    outDir: '../src/pegboard/surfaces/console/static',
    emptyOutDir: true,
    manifest: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // build/budgets.ts checks the sizes.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // The first group wins a module that several could take; without it, the first page would load the form.
            { name: 'vendor', test: VENDOR, priority: 30 },
            { name: 'form', test: FORM, priority: 20 },
            { name: 'editor', test: EDITOR, priority: 20 },
            { name: 'yaml', test: YAML, priority: 20 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/v1': { target: process.env.PEGBOARD_URL ?? 'http://127.0.0.1:8080' } },
  },
})
