export type Zone = 'local' | 'utc'

const LANGUAGE = pickLanguage()

/** Return a time as date and time with seconds, or only the time if it is of the same day as `now`. */
export function formatTime(iso: string, zone: Zone, now = new Date()): string {
  const time = new Date(iso)
  const timeZone = zone === 'utc' ? 'UTC' : undefined
  const clock = time.toLocaleTimeString(LANGUAGE, { timeZone, hour12: false })
  const day = formatDay(time, timeZone)
  return day === formatDay(now, timeZone) ? clock : `${day} ${clock}`
}

/** Return both the UTC and the local time in full, for a title. */
export function describeTime(iso: string): string {
  const time = new Date(iso)
  return `${time.toISOString().replace('T', ' ').replace('Z', '')} UTC`
}

/** Return how long ago a time was: `just now`, `4 min ago`, `3 h ago`, `12 days ago`. */
export function formatAge(iso: string, now = new Date()): string {
  const seconds = (now.getTime() - new Date(iso).getTime()) / 1000
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}

function formatDay(time: Date, timeZone: string | undefined): string {
  return time.toLocaleDateString(LANGUAGE, { timeZone, year: 'numeric', month: 'short', day: 'numeric' })
}

/** Return the language of the browser, or English if `Intl` refuses it. */
function pickLanguage(): string {
  const language = globalThis.navigator?.language ?? 'en'
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(language)[0] ?? 'en'
  } catch {
    return 'en'
  }
}
