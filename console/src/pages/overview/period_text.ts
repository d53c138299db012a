/** Return the beginning of an hour or a day as a short text; days are those of UTC, as the server counts them. */
export function formatPeriod(start: string, by: 'hour' | 'day'): string {
  const time = new Date(start)
  return by === 'hour'
    ? time.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
    : time.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
