import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

interface Chunk {
  file: string
  isEntry?: boolean
  imports?: string[]
  dynamicImports?: string[]
  css?: string[]
}

const STATIC = new URL('../../src/pegboard/surfaces/console/static/', import.meta.url).pathname
const KB = 1000
const FIRST_SCRIPTS = 300 * KB
const FIRST_STYLES = 45 * KB
const PAGE = 130 * KB
const EDITOR_SCRIPTS = 180 * KB
const ALL_FILES = 3 * 1024 * KB
const LISTS = ['tools', 'executions', 'agents', 'conversations'].map((name) => `src/pages/${name}/${name}_page.tsx`)
const HEAVY = /(form|editor)-/
const TAB = /_tab\.tsx$/
const NOTICE = /_notice\.tsx$/
// CodeMirror with its languages, and the library that reads YAML.
const EDITOR = /^(_(code_editor|editor|yaml)-|src\/shared\/editor\/)/

const manifest = JSON.parse(readFileSync(join(STATIC, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>

/** Return the names of a chunk and of all chunks that it loads with it. */
function collect(name: string, found = new Set<string>()): Set<string> {
  if (!found.has(name)) {
    found.add(name)
    for (const each of manifest[name]?.imports ?? []) collect(each, found)
  }
  return found
}

function gzippedSize(file: string): number {
  return gzipSync(readFileSync(join(STATIC, file)), { level: 9 }).length
}

function sum(files: Iterable<string>): number {
  return [...new Set(files)].reduce((total, file) => total + gzippedSize(file), 0)
}

function folderSize(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + statSync(join(entry.parentPath, entry.name)).size, 0)
}

/** Return the tabs that a page loads when they are opened. */
function listTabs(page: string): string[] {
  return (manifest[page]?.dynamicImports ?? []).filter((each) => TAB.test(each))
}

/**
 * Return the names of a page or tab with all that it loads, at once and later: a form for instance, and parts of parts.
 * Without the first load, its tabs, notices of rare events, and the editor, which has a budget of its own.
 */
function collectWithParts(name: string, found = new Set<string>()): Set<string> {
  for (const each of collect(name)) {
    if (first.has(each) || found.has(each) || EDITOR.test(each)) continue
    found.add(each)
    const later = (manifest[each]?.dynamicImports ?? []).filter((part) => !TAB.test(part) && !NOTICE.test(part))
    for (const part of later) collectWithParts(part, found)
  }
  return found
}

const problems: string[] = []
function check(what: string, size: number, limit: number): void {
  console.log(`${what}: ${(size / KB).toFixed(1)} of ${(limit / KB).toFixed(0)} kB`)
  if (size > limit) problems.push(`${what} is larger than ${limit / KB} kB`)
}

function checkPage(what: string, names: Iterable<string>): void {
  check(what, sum(chunks(names).flatMap((chunk) => [chunk.file, ...(chunk.css ?? [])])), PAGE)
}

const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry) ?? 'index.html'
const first = collect(entry)
const chunks = (names: Iterable<string>) => [...names].flatMap((name) => manifest[name] ?? [])
check('first load, scripts', sum(chunks(first).map((chunk) => chunk.file)), FIRST_SCRIPTS)
check('first load, styles', sum(chunks(first).flatMap((chunk) => chunk.css ?? [])), FIRST_STYLES)
for (const page of manifest[entry]?.dynamicImports ?? []) {
  const tabs = listTabs(page)
  const added = collectWithParts(page)
  if (tabs.length === 0) checkPage(page, added)
  // One tab is open; what the others need is loaded when they are opened.
  for (const tab of tabs) checkPage(tab, new Set([...added, ...collectWithParts(tab)]))
  const heavy = chunks([...collect(page), ...added]).find((chunk) => LISTS.includes(page) && HEAVY.test(chunk.file))
  if (heavy) problems.push(`${page} loads ${heavy.file}; lists load neither form nor editor`)
}
const editor = Object.keys(manifest).filter((name) => EDITOR.test(name))
check('editor', sum(chunks(editor).map((chunk) => chunk.file)), EDITOR_SCRIPTS)
check('all files', folderSize(STATIC), ALL_FILES)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
