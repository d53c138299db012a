import type { Schemas } from '../api/client.ts'
import type { Tone } from '../list/status_badge.tsx'

/** How much a finding about a declaration matters, the worst first. */
export const SEVERITIES = ['refuse', 'misread', 'note'] as const

/** How each severity is written, and its colour. */
export const SEVERITY_TEXT: Record<Schemas['LintFinding']['severity'], { label: string; tone: Tone }> = {
  refuse: { label: 'Refused', tone: 'bad' },
  misread: { label: 'Misread', tone: 'warn' },
  note: { label: 'Note', tone: 'idle' },
}
