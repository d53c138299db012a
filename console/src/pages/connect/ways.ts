import {
  type SnippetCall,
  writeCommand,
  writeCurl,
  writePythonHttp,
  writePythonLibrary,
} from '../../shared/snippets/call_snippets.ts'
import type { ClientConfig } from './connect_query.ts'

/** One way to connect: a client, a framework, an SDK, or a request. */
export interface Way {
  name: string
  title: string
  group: 'Requests' | 'Agent loops' | 'MCP clients and frameworks'
  /** The texts over each transport; the first one is the default. */
  texts: { transport: 'http' | 'stdio'; text: string; notes: string[] }[]
  /** Whether the self-test speaks MCP. */
  isMcp: boolean
}

const FROM_ENVIRONMENT = 'Set PEGBOARD_KEY; create a key with: pegboard keys create'
const REQUESTS: { name: string; title: string; write: (call: SnippetCall) => string; notes: string[] }[] = [
  { name: 'curl', title: 'curl', write: writeCurl, notes: [FROM_ENVIRONMENT] },
  {
    name: 'python',
    title: 'Python over HTTP',
    write: writePythonHttp,
    notes: ['Run it as a Python script, with the package httpx.', FROM_ENVIRONMENT],
  },
  {
    name: 'cli',
    title: 'Command line',
    write: writeCommand,
    notes: ['It needs the program pegboard on the machine where it runs.', FROM_ENVIRONMENT],
  },
  {
    name: 'library',
    title: 'Python library',
    write: writePythonLibrary,
    notes: [
      'It opens the database of the board itself, in PEGBOARD_HOME or PEGBOARD_DATABASE_URL: run it on the machine of the server, or where the database can be reached.',
      'It needs no key: it calls as the admin.',
    ],
  },
]

/** Return all ways to connect, with the texts of the server and the requests that call the tool of the examples. */
export function listWays(clients: ClientConfig[], loops: ClientConfig[], call: SnippetCall): Way[] {
  const requests = REQUESTS.map(
    ({ name, title, write, notes }): Way => ({
      name,
      title,
      group: 'Requests',
      texts: [{ transport: 'http', text: write(call), notes }],
      isMcp: false,
    }),
  )
  const scripts = loops.map(({ name, title, config, notes }): Way => {
    const texts: Way['texts'] = [{ transport: 'http', text: config, notes }]
    return { name: `${name}-sdk`, title, group: 'Agent loops', texts, isMcp: false }
  })
  const byName = new Map<string, Way>()
  for (const { name, title, transport, config, notes } of clients) {
    const text = { transport, text: config, notes }
    const known = byName.get(name)
    if (known) known.texts.push(text)
    else {
      const shown = title.replace(/^the /, '')
      byName.set(name, { name, title: shown, group: 'MCP clients and frameworks', texts: [text], isMcp: true })
    }
  }
  return [...requests, ...scripts, ...byName.values()]
}

const HARMLESS = ['get_weather', 'echo']

/** Return the tool of the examples: the chosen one, else one that is known to be harmless, else none. */
export function chooseTool(wanted: string | undefined, tools: string[]): string | undefined {
  if (wanted !== undefined) return wanted
  return HARMLESS.find((name) => tools.includes(name))
}
