import { formatJson, isRawNumber } from '../json/exact_json.ts'
import { quotePython, quoteShell } from './quote.ts'

/** A call to be written in another language. */
export interface SnippetCall {
  address: string
  tool: string
  /** The arguments, as `parseExactly` returns them. */
  arguments: unknown
}

/** Each way to copy a call; the key is never in it, but read from the environment. */
export const SNIPPETS: { name: string; write: (call: SnippetCall) => string }[] = [
  { name: 'curl', write: writeCurl },
  { name: 'Command line', write: writeCommand },
  { name: 'Python (HTTP)', write: writePythonHttp },
  { name: 'Python (library)', write: writePythonLibrary },
  { name: "OpenAI, a model's message", write: writeOpenAi },
  { name: "Anthropic, a model's message", write: writeAnthropic },
]

export function writeCurl({ address, tool, arguments: value }: SnippetCall): string {
  return [
    `curl -s ${quoteShell(`${address}/v1/tools/${encodeURIComponent(tool)}/call`)}`,
    `-H "Authorization: Bearer $PEGBOARD_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quoteShell(JSON.stringify(value))}`,
  ].join(' \\\n  ')
}

export function writeCommand({ address, tool, arguments: value }: SnippetCall): string {
  const body = JSON.stringify(value)
  return `printf %s ${quoteShell(body)} |\n  PEGBOARD_URL=${quoteShell(address)} pegboard call ${quoteShell(tool)} --input -`
}

export function writePythonHttp({ address, tool, arguments: value }: SnippetCall): string {
  return [
    'import os',
    '',
    'import httpx',
    '',
    'response = httpx.post(',
    `    ${quotePython(`${address}/v1/tools/${encodeURIComponent(tool)}/call`)},`,
    '    headers={"Authorization": f"Bearer {os.environ[\'PEGBOARD_KEY\']}"},',
    `    json=${indent(writePythonValue(value), 4)},`,
    ')',
    'print(response.json())',
  ].join('\n')
}

export function writePythonLibrary({ tool, arguments: value }: SnippetCall): string {
  return [
    'import asyncio',
    '',
    'from pegboard import Pegboard',
    '',
    '',
    'async def main() -> None:',
    '    async with Pegboard.open() as board:',
    `        result = await board.call(${quotePython(tool)}, ${indent(writePythonValue(value), 8)})`,
    '        print(result)',
    '',
    '',
    'asyncio.run(main())',
  ].join('\n')
}

export function writeOpenAi({ tool, arguments: value }: SnippetCall): string {
  const call = { id: 'call_1', type: 'function', function: { name: tool, arguments: JSON.stringify(value) } }
  return formatJson({ role: 'assistant', content: null, tool_calls: [call] })
}

export function writeAnthropic({ tool, arguments: value }: SnippetCall): string {
  return formatJson({ role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: tool, input: value }] })
}

/** Return a JSON value as a Python literal. */
export function writePythonValue(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (isRawNumber(value)) return value.rawJSON
  if (typeof value === 'string') return quotePython(value)
  if (typeof value !== 'object') return String(value)
  const pad = ' '.repeat(4 * (depth + 1))
  const end = ' '.repeat(4 * depth)
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((each) => `${pad}${writePythonValue(each, depth + 1)},\n`).join('')}${end}]`
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return '{}'
  const lines = entries.map(([name, each]) => `${pad}${quotePython(name)}: ${writePythonValue(each, depth + 1)},\n`)
  return `{\n${lines.join('')}${end}}`
}

function indent(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`)
}
