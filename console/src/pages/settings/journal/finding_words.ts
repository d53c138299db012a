import type { Finding } from './verification_query.ts'

const WORDS: Record<Finding['kind'], string> = {
  changed: 'rows changed',
  removed: 'rows missing',
  cut: 'rows missing at the end',
  misplaced: 'rows in the wrong place',
  beyond_head: 'rows after the signed end',
  head_forged: 'signed end not genuine',
  marker_forged: 'mark of a prune not genuine',
  writer_missing: 'writer missing',
  writer_unknown: 'unknown writer',
  count_forged: 'number of writers not genuine',
  outside: 'rows outside of every chain',
  line: 'lines that cannot be read',
  put_back: 'put back to an earlier state',
  set_aside: 'entries set aside',
}

/** Return the number of violations of each kind as a text, such as `2 × rows changed`. */
export function describeFindings(findings: Record<string, number>): string {
  return Object.entries(findings)
    .map(([kind, count]) => `${count} × ${WORDS[kind as Finding['kind']] ?? kind}`)
    .join(', ')
}
