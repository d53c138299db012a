import { isRawNumber } from '../json/exact_json.ts'
import { scalarText } from './outline_text.ts'

export interface ResultTable {
  columns: string[]
  rows: string[][]
  /** How many rows and columns were left out. */
  moreRows: number
  moreColumns: number
}

const MAX_ROWS = 50
const MAX_COLUMNS = 12
const MAX_CELL = 200

/** Return a value as a table: a list of objects by column, an object as names and values; undefined if it is neither. */
export function buildTable(value: unknown): ResultTable | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isObject) ? tabulate(value) : undefined
  if (!isObject(value)) return undefined
  const entries = Object.entries(value)
  const lists = entries.filter(([, each]) => Array.isArray(each) && each.length > 0 && each.every(isObject))
  if (entries.length === 1 && lists[0]) return tabulate(lists[0][1] as Record<string, unknown>[])
  if (entries.length === 0) return undefined
  return {
    columns: ['Name', 'Value'],
    rows: entries.slice(0, MAX_ROWS).map(([name, each]) => [name, writeCell(each)]),
    moreRows: Math.max(0, entries.length - MAX_ROWS),
    moreColumns: 0,
  }
}

function tabulate(items: Record<string, unknown>[]): ResultTable {
  const shown = items.slice(0, MAX_ROWS)
  const all = [...new Set(shown.flatMap((item) => Object.keys(item)))]
  const columns = all.slice(0, MAX_COLUMNS)
  const rows = shown.map((item) => columns.map((name) => (Object.hasOwn(item, name) ? writeCell(item[name]) : '')))
  return { columns, rows, moreRows: items.length - shown.length, moreColumns: all.length - columns.length }
}

function writeCell(value: unknown): string {
  const text = scalarText(value) ?? JSON.stringify(value)
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}
