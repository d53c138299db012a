import { getRouteApi } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import { useMe } from '../../shared/session/use_me.ts'
import { EmptyState } from '../../shared/states/empty_state.tsx'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import { PageHeader } from '../../shared/states/page_header.tsx'
import { ForbiddenSection } from './forbidden_section.tsx'
import { SectionLinks } from './section_links.tsx'
import { SECTIONS, type SectionName } from './sections.ts'

const PANELS: Record<SectionName, ComponentType> = {
  account: lazy(() => import('./account/account_section.tsx')),
  secrets: lazy(() => import('./secrets/secrets_section.tsx')),
  people: lazy(() => import('./people/people_section.tsx')),
  journal: lazy(() => import('./journal/journal_section.tsx')),
  tables: lazy(() => import('./tables/tables_section.tsx')),
  system: lazy(() => import('./system/system_section.tsx')),
}

const route = getRouteApi('/settings/$section')

/** The settings of the user, and for admins those of the board. */
export function SettingsPage() {
  const { section: name } = route.useParams()
  const { user } = useMe()
  const section = SECTIONS.find((each) => each.name === name)
  const isAdmin = user.role === 'admin'
  const Panel = section && PANELS[section.name]
  return (
    <>
      <PageHeader title={section ? `Settings: ${section.label}` : 'Settings'} />
      <SectionLinks isAdmin={isAdmin} />
      {section === undefined && (
        <EmptyState title="Settings have no section of this name">Choose one above.</EmptyState>
      )}
      {section?.isForAdmins && !isAdmin ? (
        <ForbiddenSection label={section.label} />
      ) : (
        Panel && (
          <Suspense key={name} fallback={<ListOutline />}>
            <Panel />
          </Suspense>
        )
      )}
    </>
  )
}
