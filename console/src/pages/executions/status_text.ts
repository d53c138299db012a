import type { Tone } from '../../shared/list/status_badge.tsx'
import type { Execution } from './executions_query.ts'
import { STATUSES } from './executions_search.ts'

/** How each status is written, and its colour. */
export const STATUS_TEXT: Record<Execution['status'], { label: string; tone: Tone }> = {
  succeeded: { label: 'Succeeded', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  refused: { label: 'Refused', tone: 'warn' },
  in_doubt: { label: 'In doubt', tone: 'idle' },
}

/** The statuses as choices of a filter. */
export const STATUS_CHOICES = STATUSES.map((value) => ({ value, label: STATUS_TEXT[value].label }))
