import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'vite'

interface PackageFile {
  name: string
  version: string
  license?: string
}

/** Write `THIRD_PARTY.txt`: name, version and licence text of each package whose code is in the build. */
export function emitLicences(): Plugin {
  const folders = new Set<string>()
  return {
    name: 'licences',
    apply: 'build',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        for (const id of chunk.type === 'chunk' ? chunk.moduleIds : chunk.originalFileNames) {
          const folder = findPackage(id)
          if (folder) folders.add(folder)
        }
      }
      for (const id of this.getModuleIds()) {
        const folder = id.includes('.css') ? findPackage(id) : undefined
        if (folder) folders.add(folder)
      }
      const source = [...folders]
        .sort(compareNames)
        .map(describePackage)
        .join(`\n${'='.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: 'THIRD_PARTY.txt', source })
    },
  }
}

/** Return the folder of the package that a module belongs to. */
function findPackage(id: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0]
}

function compareNames(one: string, other: string): number {
  const [first, second] = [one, other].map((folder) => folder.slice(folder.lastIndexOf('node_modules/')))
  return (first ?? '') < (second ?? '') ? -1 : 1
}

function describePackage(folder: string): string {
  const file = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile
  const name = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = name ? readFileSync(join(folder, name), 'utf8').trim() : `No licence file in ${dirname(file.name)}.`
  return `${file.name} ${file.version}, ${file.license ?? 'see below'}\n\n${text}\n`
}
