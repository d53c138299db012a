/** A call as a thread stores it, or as it was found in a payload; fields of the wrong type are left out. */
export interface StoredCall {
  id: string | undefined
  name: string | undefined
  /** Null if they cannot be parsed; their text is then in `rawArguments`. */
  arguments: unknown
  rawArguments: string | undefined
  outcome: 'succeeded' | 'failed' | 'open' | 'elsewhere'
  result: unknown
  error: string | undefined
  code: string | undefined
  duration: number | undefined
  attempts: number | undefined
  run: string | undefined
  hasInvalidResult: boolean
  problem: CallProblem | undefined
}

/** Why the call would be refused. */
export interface CallProblem {
  message: string
  code: string | undefined
  /** What is wrong with single arguments. */
  fields: { field: string; message: string }[]
}

/** Return a call of the API; whatever a model or a tool wrote in it. */
export function readCall(value: unknown): StoredCall {
  const call = asObject(value)
  const error = call.error === null || call.error === undefined ? undefined : describe(call.error)
  const hasResult = Object.hasOwn(call, 'result')
  return {
    id: asText(call.id),
    name: asText(call.name),
    arguments: call.arguments,
    rawArguments: asText(call.raw_arguments),
    outcome: readOutcome(error !== undefined, hasResult, call.provider_executed === true),
    result: call.result,
    error,
    code: asText(call.code),
    duration: asNumber(call.duration_ms),
    attempts: asNumber(call.attempts),
    run: asText(call.run_id),
    hasInvalidResult: call.result_valid === false,
    problem: readProblem(call.problem),
  }
}

function readOutcome(hasError: boolean, hasResult: boolean, isElsewhere: boolean): StoredCall['outcome'] {
  if (hasError) return 'failed'
  if (hasResult) return 'succeeded'
  return isElsewhere ? 'elsewhere' : 'open'
}

function readProblem(value: unknown): CallProblem | undefined {
  if (value === undefined) return undefined
  const problem = asObject(value)
  const problems = Array.isArray(problem.problems) ? problem.problems.map(asObject) : []
  return {
    message: describe(problem.message),
    code: asText(problem.code),
    fields: problems.map((each) => ({ field: asText(each.field) ?? 'arguments', message: describe(each.message) })),
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function describe(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
