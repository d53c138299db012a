/** A number of JSON text that JavaScript cannot hold; `JSON.stringify` writes it digit for digit. */
export interface RawNumber {
  readonly rawJSON: string
}

interface JsonWithSource {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON?(text: string): RawNumber
  isRawJSON?(value: unknown): value is RawNumber
}

const json = JSON as unknown as JsonWithSource

/** Parse JSON text; numbers that would lose digits become a RawNumber, where the browser can keep them. */
export function parseExactly(text: string): unknown {
  const { rawJSON } = json
  if (!rawJSON) return JSON.parse(text)
  return json.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && losesDigits(value, context.source)
      ? rawJSON(context.source)
      : value,
  )
}

/** Return whether a value, or a value in it, is a number that JavaScript cannot hold. */
export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON?.(value) ?? false
}

/** Return whether a number that JavaScript cannot hold is anywhere in the value. */
export function hasRawNumber(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const each = open.pop()
    if (isRawNumber(each)) return true
    if (typeof each === 'object' && each !== null) {
      for (const inner of Object.values(each)) open.push(inner)
    }
  }
  return false
}

/** Return the value as JSON text with indentation. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'null'
}

function losesDigits(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true
  const [digits, exponent] = scaleNumber(source)
  const [kept, keptExponent] = scaleNumber(String(value))
  return digits !== kept || (digits !== '' && exponent !== keptExponent)
}

/** Return the significant digits of a number and its power of ten, so that `1.50` and `15e-1` are equal. */
function scaleNumber(source: string): [string, number] {
  const [mantissa = '', power = '0'] = source.toLowerCase().replace(/^-/, '').replace('e-', 'e_').split('e')
  const sign = power.startsWith('_') ? -1 : 1
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  return [digits, sign * Number(power.replace(/[_+]/, '')) - fraction.length + (all.length - digits.length)]
}
