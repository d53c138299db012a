import type { Schemas } from '../../shared/api/client.ts'
import type { paths } from '../../shared/api/schema'

/** The text of an API document and where it is from: it may be megabytes long, so no field shows it. */
export interface GivenDocument {
  name: string
  text: string
}

/** What is typed into the form of an import. */
export interface ImportForm {
  document: GivenDocument | undefined
  url: string
  apiUrl: string
  serverUrl: string
  command: string
  variables: string
  workingDir: string
  name: string
  prefix: string
  include: string
  visibility: '' | 'public' | 'private'
  follow: boolean
  credentials: '' | 'bearer' | 'api_key' | 'basic'
  secret: string
  username: string
  headerName: string
}

export const EMPTY_FORM: ImportForm = {
  document: undefined,
  url: '',
  apiUrl: '',
  serverUrl: '',
  command: '',
  variables: '',
  workingDir: '',
  name: '',
  prefix: '',
  include: '',
  visibility: '',
  follow: false,
  credentials: '',
  secret: '',
  username: '',
  headerName: '',
}

export type OpenApiBody = Partial<paths['/v1/imports/openapi']['post']['requestBody']['content']['application/json']>
export type McpBody = Partial<Schemas['McpImportBody']>

/** Return the request for an API document, given as its text or as its address. */
export function buildOpenApiBody(form: ImportForm, by: 'file' | 'url' | 'text'): OpenApiBody {
  return {
    ...(by === 'url' ? { url: form.url.trim() } : { document: form.document?.text ?? '' }),
    ...(form.apiUrl.trim() && { server_url: form.apiUrl.trim() }),
    ...buildSharedFields(form),
  }
}

/** Return the request for an MCP server, given by its address or its command. */
export function buildMcpBody(form: ImportForm, by: 'url' | 'command'): McpBody {
  const pairs = readPairs(form.variables)
  return {
    ...(by === 'url'
      ? { server_url: form.serverUrl.trim(), headers: pairs }
      : { command: splitCommand(form.command), env: pairs }),
    ...(by === 'command' && form.workingDir.trim() && { working_dir: form.workingDir.trim() }),
    ...(form.name.trim() && { name: form.name.trim() }),
    follow: form.follow,
    ...buildSharedFields(form),
  }
}

/** Return what is missing before the import can be checked, or undefined. */
export function findMissing(form: ImportForm, by: NonNullable<'file' | 'url' | 'text' | 'command'>, isMcp: boolean) {
  if (isMcp && by === 'command' && splitCommand(form.command).length === 0) return 'Type the command first'
  if (isMcp && by === 'url' && !form.serverUrl.trim()) return 'Type the address of the server first'
  if (!isMcp && by === 'url' && !form.url.trim()) return 'Type the address of the document first'
  if (!isMcp && by !== 'url' && !form.document)
    return by === 'file' ? 'Choose a file first' : 'Paste the document first'
  if (form.credentials && !form.secret) return 'Choose the secret of the credentials first'
  return undefined
}

function buildSharedFields(form: ImportForm) {
  const include = form.include.split(/[\n,]/).flatMap((each) => each.trim() || [])
  const auth = buildCredentials(form)
  return {
    prefix: form.prefix.trim(),
    include,
    ...(form.visibility && { is_public: form.visibility === 'public' }),
    ...(auth && { auth_config: auth }),
  }
}

/** Return credentials that refer to a secret, so that its value is only in the board. */
function buildCredentials({ credentials, secret, username, headerName }: ImportForm) {
  const value = `{{secret:${secret}}}`
  if (credentials === 'bearer') return { type: 'bearer', token: value }
  if (credentials === 'basic') return { type: 'basic', username, password: value }
  if (credentials === 'api_key') {
    return { type: 'api_key', api_key: value, ...(headerName.trim() && { header_name: headerName.trim() }) }
  }
  return undefined
}

/** Return the pairs of lines that read NAME=VALUE. */
export function readPairs(lines: string): Record<string, string> {
  const pairs = lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line): [string, string] => {
      const equals = line.indexOf('=')
      return equals === -1 ? [line, ''] : [line.slice(0, equals).trim(), line.slice(equals + 1).trim()]
    })
  return Object.fromEntries(pairs)
}

/** Return the words of a command; quotes keep spaces, and a backslash the next character, as in a POSIX shell. */
export function splitCommand(command: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let place = 0; place < command.length; place += 1) {
    const letter = command.charAt(place)
    if (letter === '\\' && quote !== "'" && place + 1 < command.length) {
      place += 1
      word = (word ?? '') + command.charAt(place)
    } else if (quote !== '') {
      if (letter === quote) quote = ''
      else word += letter
    } else if (letter === '"' || letter === "'") {
      quote = letter
      word ??= ''
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else {
      word = (word ?? '') + letter
    }
  }
  return word === undefined ? words : [...words, word]
}

/** Return whether two requests are the same; a document is not compared letter by letter, because it may be long. */
export function isSameBody(one: OpenApiBody | McpBody, other: OpenApiBody | McpBody): boolean {
  const [first, second] = [splitDocument(one), splitDocument(other)]
  return first.document === second.document && JSON.stringify(first.rest) === JSON.stringify(second.rest)
}

function splitDocument(body: OpenApiBody | McpBody) {
  const { document, ...rest } = body as OpenApiBody
  return { document, rest }
}
