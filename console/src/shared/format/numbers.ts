/** Return a duration as people read it: `0.8 ms`, `240 ms`, `1.2 s`, `3 min 5 s`. */
export function formatDuration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return '–'
  if (milliseconds < 10) return `${trimNumber(milliseconds, milliseconds < 1 ? 2 : 1)} ms`
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${trimNumber(seconds, seconds < 10 ? 2 : 1)} s`
  const rounded = Math.round(seconds)
  const [minutes, rest] = [Math.floor(rounded / 60), rounded % 60]
  if (minutes < 60) return rest ? `${minutes} min ${rest} s` : `${minutes} min`
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`
}

/** Return a count with separators, or in short from 10,000: `9,999`, `12.3k`, `4.1M`. */
export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString('en')
  if (count < 999_950) return `${trimNumber(count / 1000, 1)}k`
  return `${trimNumber(count / 1_000_000, 1)}M`
}

/** Return a share as per cent; only all is 100 %, and only none is 0 %. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–'
  const share = (100 * part) / whole
  if (share > 99.9 && part < whole) return '99.9 %'
  if (share < 0.1 && part > 0) return '0.1 %'
  return `${trimNumber(share, 1)} %`
}

/** Return a size in bytes as people read it. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${trimNumber(bytes / 1024, 1)} KiB`
  return `${trimNumber(bytes / 1024 / 1024, 1)} MiB`
}

function trimNumber(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}
