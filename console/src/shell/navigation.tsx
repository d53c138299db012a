import { NavLink } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { BOARD_PATH } from '../shared/api/base_path.ts'
import { Icon } from '../shared/icons/icon.tsx'
import { PAGES } from './pages.ts'

/** The links to the pages. */
export function Navigation({ onNavigate }: { onNavigate: () => void }) {
  const { pathname } = useLocation()
  return (
    <>
      {PAGES.map((page) => (
        <NavLink
          key={page.to}
          active={pathname === page.to || pathname.startsWith(`${page.to}/`)}
          label={page.label}
          leftSection={<Icon name={page.icon} />}
          onClick={onNavigate}
          renderRoot={(props) => (
            <Link to={page.to} {...props} aria-current={pathname.startsWith(page.to) ? 'page' : undefined} />
          )}
        />
      ))}
      <NavLink mt="auto" label="API reference" leftSection={<Icon name="book" />} href={`${BOARD_PATH}/docs`} />
    </>
  )
}
