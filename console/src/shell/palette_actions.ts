import type { useNavigate } from '@tanstack/react-router'
import { SECTIONS } from '../pages/settings/sections.ts'
import type { IconName } from '../shared/icons/icon.tsx'
import { PAGES } from './pages.ts'

/** An entry of the palette that does not depend on the board. */
export interface PaletteAction {
  id: string
  label: string
  icon: IconName
  /** Shown only for a text that matches it, because the list is long without it. */
  isSearched?: boolean
  run: () => void
}

interface PaletteContext {
  navigate: ReturnType<typeof useNavigate>
  isAdmin: boolean
  showShortcuts: () => void
  logOut: () => Promise<void>
}

/** Return the pages, the sections of Settings and the commands that the user may use. */
export function listPaletteActions({ navigate, isAdmin, showShortcuts, logOut }: PaletteContext): PaletteAction[] {
  const openSection = (section: string, created?: 'key' | 'user' | 'secret') =>
    void navigate({ to: '/settings/$section', params: { section }, search: { new: created } })
  const pages = PAGES.map(({ to, label, icon }) => ({ id: to, label, icon, run: () => void navigate({ to }) }))
  const sections = SECTIONS.filter((section) => isAdmin || !section.isForAdmins).map(({ name, label }) => ({
    id: `settings ${name}`,
    label: `Settings: ${label}`,
    icon: 'settings' as const,
    isSearched: true,
    run: () => openSection(name),
  }))
  const commands: (PaletteAction & { isForAdmins?: boolean })[] = [
    { id: 'tool', label: 'New tool', icon: 'plus', run: () => void navigate({ to: '/tools/new' }) },
    { id: 'key', label: 'Create a key', icon: 'plus', run: () => openSection('account', 'key') },
    { id: 'secret', label: 'Set a secret', icon: 'plus', run: () => openSection('secrets', 'secret') },
    { id: 'user', label: 'Add a user', icon: 'plus', isForAdmins: true, run: () => openSection('people', 'user') },
    { id: 'verify', label: 'Verify the journal', icon: 'check', isForAdmins: true, run: () => openSection('journal') },
    { id: 'shortcuts', label: 'Keyboard shortcuts', icon: 'keyboard', run: showShortcuts },
    { id: 'logout', label: 'Log out', icon: 'logout', run: () => void logOut() },
  ]
  return [...pages, ...sections, ...commands.filter((command) => isAdmin || !command.isForAdmins)]
}
