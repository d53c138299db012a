import { ApiError, readProblem } from '../../shared/api/api_error.ts'
import { BOARD_PATH } from '../../shared/api/base_path.ts'
import { parseExactly } from '../../shared/json/exact_json.ts'
import { endSession } from '../../shared/session/session_state.ts'
import { readEvents } from '../../shared/stream/read_events.ts'

/** One request of the self-test, its duration and its answer. */
export interface TestStep {
  title: string
  elapsed: number
  /** What the answer says, in a few words. */
  summary: string
  answer: unknown
  isFailed: boolean
}

export interface TestTarget {
  tool: string
  /** JSON text of the arguments. */
  arguments: string
  agent: string | undefined
  isMcp: boolean
}

export interface TestResult {
  steps: TestStep[]
  /** The row of the call in the journal. */
  row: string | undefined
}

const REVISION = '2025-11-25'
const EXECUTION_ID = 'pegboard/executionId'

type Json = Record<string, unknown>

/** Make the call as a client does, step by step; `onStep` gets each step as it ends. */
export function runTest(target: TestTarget, signal: AbortSignal, onStep: (step: TestStep) => void) {
  return target.isMcp ? testMcp(target, signal, onStep) : testRest(target, signal, onStep)
}

async function testRest({ tool, arguments: body }: TestTarget, signal: AbortSignal, onStep: (step: TestStep) => void) {
  const start = performance.now()
  const response = await send(`/v1/tools/${encodeURIComponent(tool)}/call`, { body, signal })
  const answer = await readAnswer(response)
  const isFailed = answer.success !== true
  const code = asJson(answer.error_details).code
  const summary = isFailed ? `Failed: ${String(code ?? 'error')}` : 'Succeeded'
  onStep({ title: `POST /v1/tools/${tool}/call`, elapsed: performance.now() - start, summary, answer, isFailed })
  return response.headers.get('X-Execution-Id') ?? undefined
}

async function testMcp(target: TestTarget, signal: AbortSignal, onStep: (step: TestStep) => void) {
  const path = target.agent === undefined ? '/mcp' : `/agents/${encodeURIComponent(target.agent)}/mcp`
  const headers: Record<string, string> = {}
  let id = 0
  const ask = async (method: string, params: string) => {
    id += 1
    const start = performance.now()
    const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
    const response = await send(path, { body, signal, headers })
    const message = await readAnswer(response)
    return { response, message, elapsed: performance.now() - start }
  }
  const client = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'pegboard-console', version: '1' } }
  const opened = await ask('initialize', JSON.stringify(client))
  const session = opened.response.headers.get('Mcp-Session-Id')
  if (session) headers['Mcp-Session-Id'] = session
  headers['MCP-Protocol-Version'] = REVISION
  try {
    const { protocolVersion, serverInfo } = asJson(opened.message.result)
    const server = asJson(serverInfo)
    add('initialize', opened, `${String(server.name)} ${String(server.version)}, revision ${String(protocolVersion)}`)
    await send(path, { body: '{"jsonrpc":"2.0","method":"notifications/initialized"}', signal, headers })
    const listed = await ask('tools/list', '{}')
    const { tools, nextCursor } = asJson(listed.message.result)
    const count = Array.isArray(tools) ? tools.length : 0
    add('tools/list', listed, `${count}${nextCursor ? ' or more' : ''} ${count === 1 ? 'tool' : 'tools'}`)
    const called = await ask('tools/call', `{"name":${JSON.stringify(target.tool)},"arguments":${target.arguments}}`)
    const result = asJson(called.message.result)
    add(`tools/call ${target.tool}`, called, result.isError === true ? 'Failed' : 'Succeeded', result.isError === true)
    const row = asJson(result._meta)[EXECUTION_ID]
    return typeof row === 'string' ? row : undefined
  } finally {
    // The server would keep the session for half an hour.
    void send(path, { method: 'DELETE', headers }).catch(() => undefined)
  }

  function add(title: string, { message, elapsed }: { message: Json; elapsed: number }, text: string, isError = false) {
    const error = asJson(message.error)
    const isFailed = isError || message.error !== undefined
    const summary = message.error === undefined ? text : `Refused: ${String(error.message)}`
    onStep({ title, elapsed, summary, answer: message.result ?? message.error, isFailed })
  }
}

interface Sent {
  method?: string
  body?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

async function send(path: string, { method = 'POST', body, headers, signal }: Sent): Promise<Response> {
  const response = await fetch(`${BOARD_PATH}${path}`, {
    method,
    body: body ?? null,
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    credentials: 'same-origin',
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, { title: 'No connection', detail: 'The server cannot be reached from this page' })
  })
  if (response.status === 401) endSession()
  return response
}

/** Return the JSON of an answer, or the last message of its event stream; throw for a problem or another body. */
async function readAnswer(response: Response): Promise<Json> {
  const type = response.headers.get('Content-Type') ?? ''
  let text = ''
  if (type.startsWith('text/event-stream')) {
    for await (const event of readEvents(response)) text = event.data || text
  } else text = await response.text()
  const value = readJson(text)
  const message = asJson(value)
  // An error of JSON-RPC is shown as an answer.
  if (!response.ok && message.jsonrpc === undefined) throw readProblem(response, value)
  return message
}

function readJson(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
