import { getRouteApi } from '@tanstack/react-router'
import type { SettingsSearch } from './settings_search.ts'

const route = getRouteApi('/settings/$section')

/** Return whether the dialog that creates something is open, which the address says, and what opens and closes it. */
export function useNewDialog(what: NonNullable<SettingsSearch['new']>) {
  const navigate = route.useNavigate()
  const isOpen = route.useSearch().new === what
  const show = (isShown: boolean) =>
    void navigate({
      search: (all) => ({ ...all, new: isShown ? what : undefined }),
      replace: !isShown,
      resetScroll: false,
    })
  return { isOpen, open: () => show(true), close: () => show(false) }
}
