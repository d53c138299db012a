import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../../shared/api/api_error.ts'
import { api, unwrap } from '../../shared/api/client.ts'
import { readCall, type StoredCall } from '../../shared/call_card/stored_call.ts'
import { parseExactly } from '../../shared/json/exact_json.ts'
import { findMediaType } from './payload_kind.ts'

/** A payload that was submitted; its number stands for its text, which may be long. */
export interface Submitted {
  number: number
  text: string
  from: string | undefined
}

/** The dialect of a payload and its calls. */
export interface Inspection {
  dialect: string
  calls: StoredCall[]
}

/** The results of the calls of a payload. */
export interface Outcome {
  dialect: string
  raw: string
  value: unknown
  requestId: string | undefined
}

/** The calls of a payload, and why some would be refused; runs nothing. */
export function inspectionQuery({ number, text, from }: Submitted) {
  return queryOptions({
    queryKey: ['inspection', number, from],
    queryFn: async ({ signal }): Promise<Inspection> => {
      const body = await unwrap<string>(
        api.POST('/v1/calls/normalize', {
          params: { query: { from, check: true } },
          ...writeBody(text),
          parseAs: 'text',
          signal,
        }),
      )
      const found = parseExactly(body) as { dialect: string; calls: unknown[] }
      return { dialect: found.dialect, calls: found.calls.map(readCall) }
    },
    enabled: text.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
    // A payload is not kept when the page is left.
    gcTime: 0,
  })
}

/** Run the calls of a payload; their results have the dialect `as`, or that of the payload. */
export async function runCalls(
  { text, from }: Submitted,
  as: string | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const request = api.POST('/v1/calls', {
    params: { query: { from, as } },
    ...writeBody(text),
    parseAs: 'text',
    signal,
  })
  const answer = await request.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    const detail = 'The connection broke before there was an answer; Executions says whether the calls ran'
    throw new ApiError(0, { title: error.title, detail })
  })
  const raw = (await unwrap(Promise.resolve(answer))) as unknown as string
  return {
    dialect: answer.response.headers.get('X-Dialect') ?? '',
    raw,
    value: readValue(raw),
    requestId: answer.response.headers.get('X-Request-Id') ?? undefined,
  }
}

/** The payload as it was typed: digits and keys arrive as they are. */
function writeBody(text: string) {
  return {
    body: text,
    bodySerializer: (body: unknown) => String(body),
    headers: { 'Content-Type': findMediaType(text) },
  }
}

function readValue(raw: string): unknown {
  try {
    return parseExactly(raw)
  } catch {
    return raw
  }
}
