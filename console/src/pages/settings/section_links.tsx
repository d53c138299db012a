import { Link } from '@tanstack/react-router'
import classes from '../../shared/tabs/page_tabs.module.css'
import { SECTIONS } from './sections.ts'

/** The links to the sections that the user may open. */
export function SectionLinks({ isAdmin }: { isAdmin: boolean }) {
  return (
    <nav className={classes.tabs} aria-label="Settings">
      {SECTIONS.filter((section) => isAdmin || !section.isForAdmins).map(({ name, label }) => (
        <Link
          key={name}
          to="/settings/$section"
          params={{ section: name }}
          className={classes.tab}
          activeOptions={{ includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
