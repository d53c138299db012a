// Runs before the first paint, so that the page does not flash in the other colour scheme.
;(() => {
  let stored = null
  try {
    stored = localStorage.getItem('pegboard-color-scheme')
  } catch {
    // Storage is forbidden: the scheme of the system applies.
  }
  const isDark = stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
})()
