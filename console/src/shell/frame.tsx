import { ActionIcon, AppShell, Burger, Group, Kbd, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { spotlight } from '@mantine/spotlight'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { Suspense } from 'react'
import { Icon } from '../shared/icons/icon.tsx'
import { useShortcuts } from '../shared/keyboard/use_shortcuts.ts'
import { ListOutline } from '../shared/states/list_outline.tsx'
import { AccountMenu } from './account_menu.tsx'
import { AddressNotice } from './address_notice.tsx'
import { BuildNotice } from './build_notice.tsx'
import { ConnectionNotice } from './connection_notice.tsx'
import classes from './frame.module.css'
import { LoginDialog } from './login_dialog.tsx'
import { Logo } from './logo.tsx'
import { Navigation } from './navigation.tsx'
import { PAGES } from './pages.ts'
import { Palette } from './palette.tsx'
import { SchemeMenu } from './scheme_menu.tsx'
import { ShortcutList } from './shortcut_list.tsx'
import { useChanges } from './use_changes.ts'

/** What is around every page: header, navigation, palette and the list of shortcuts. */
export function Frame() {
  const [isOpen, menu] = useDisclosure()
  const [isListOpen, list] = useDisclosure()
  const navigate = useNavigate()
  useChanges()
  const goTo = Object.fromEntries(PAGES.map((page) => [`g ${page.letter}`, () => void navigate({ to: page.to })]))
  useShortcuts({ ...goTo, '?': list.open })
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', sm: 'lg' }}
    >
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <AppShell.Header className={classes.header}>
        <Group gap="xs" wrap="nowrap">
          <Burger opened={isOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
          <Link to="/overview" className={classes.brand} aria-label="Pegboard, overview">
            <Logo />
            Pegboard
          </Link>
        </Group>
        <Group gap={6} wrap="nowrap">
          <button type="button" className={classes.search} onClick={spotlight.open}>
            <Icon name="search" size={16} />
            <span className={classes.label}>Search or run a command</span>
            <Kbd size="xs" visibleFrom="sm">
              Ctrl K
            </Kbd>
          </button>
          <Tooltip label="Keyboard shortcuts (?)">
            <ActionIcon onClick={list.open} aria-label="Keyboard shortcuts" visibleFrom="sm">
              <Icon name="keyboard" />
            </ActionIcon>
          </Tooltip>
          <SchemeMenu />
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label="Pages">
        <Navigation onNavigate={menu.close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <BuildNotice />
        <ConnectionNotice />
        <AddressNotice />
        <Suspense fallback={<ListOutline />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <Palette onShowShortcuts={list.open} />
      <ShortcutList isOpen={isListOpen} onClose={list.close} />
      <LoginDialog />
    </AppShell>
  )
}
