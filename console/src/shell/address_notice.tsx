import { Alert, Text } from '@mantine/core'
import { useRouter, useRouterState } from '@tanstack/react-router'
import { useState } from 'react'
import { Icon } from '../shared/icons/icon.tsx'
import type { RawSearch } from '../shared/query/search_values.ts'
import { ForeignText } from '../shared/text/foreign_text.tsx'
import { findIgnored } from './ignored_search.ts'

const MAX_SHOWN = 5
// Read before the router removes from the address what the page does not use.
const TYPED = { path: window.location.pathname, search: new URLSearchParams(window.location.search) }

/** Says what of an address that was written by hand the page does not use, and what it knows instead. */
export function AddressNotice() {
  const [isClosed, setClosed] = useState(false)
  const router = useRouter()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const routeId = useRouterState({ select: (state) => state.matches.at(-1)?.routeId })
  const read = routeId && router.routesById[routeId]?.options.validateSearch
  if (isClosed || typeof read !== 'function' || !TYPED.path.endsWith(path)) return null
  const readSearch = read as (search: RawSearch) => object
  const ignored = findIgnored(TYPED.search, readSearch)
  if (ignored.length === 0) return null
  const known = Object.keys(readSearch({})).join(', ')
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<Icon name="alert" />}
      title="A part of the address is ignored"
      mb="md"
      withCloseButton
      closeButtonLabel="Close"
      onClose={() => setClosed(true)}
    >
      {ignored.slice(0, MAX_SHOWN).map(({ name, value, isName }) => (
        <Text size="sm" key={name}>
          <ForeignText>{`${name}=${value}`}</ForeignText>{' '}
          {isName ? 'is not known on this page.' : 'has a value that this page does not know.'}
        </Text>
      ))}
      {known !== '' && <Text size="sm">This page knows: {known}.</Text>}
    </Alert>
  )
}
