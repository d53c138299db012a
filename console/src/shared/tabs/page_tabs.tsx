import { Link } from '@tanstack/react-router'
import { Activity, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { ListOutline } from '../states/list_outline.tsx'
import classes from './page_tabs.module.css'

export interface PageTab<T extends string> {
  value: T
  label: string
  /** A component made with `lazy`, so that its code is loaded when the tab is opened. */
  panel: ReactNode
}

interface PageTabsProps<T extends string> {
  /** What the tabs are about. */
  label: string
  tabs: readonly PageTab<T>[]
  /** The opened tab, from the address; the first one without it. */
  open: T | undefined
}

/** Tabs whose choice is `tab` of the address; a panel keeps what was typed in it while another one is open. */
export function PageTabs<T extends string>({ label, tabs, open }: PageTabsProps<T>) {
  const current = tabs.find((tab) => tab.value === open) ?? tabs[0]
  const [visited, setVisited] = useState<readonly T[]>([])
  const strip = useRef<HTMLElement>(null)
  // On a narrow screen, the strip scrolls to the opened tab.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link of the opened tab is read from the page
  useEffect(() => {
    const link = strip.current?.querySelector<HTMLElement>('[aria-current]')
    if (strip.current && link) strip.current.scrollLeft = link.offsetLeft - strip.current.offsetLeft - 24
  }, [current?.value])
  if (current && !visited.includes(current.value)) setVisited([...visited, current.value])
  return (
    <>
      <nav ref={strip} className={classes.tabs} aria-label={label}>
        {tabs.map((tab, place) => (
          <Link
            key={tab.value}
            to="."
            search={((all: object) => ({ ...all, tab: place === 0 ? undefined : tab.value })) as never}
            resetScroll={false}
            className={classes.tab}
            // The router marks a link as the current one only if the address is the same, with its parameters.
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={tab === current ? 'page' : undefined}
          >
            {tab.label}
          </Link>
        ))}
      </nav>
      {tabs.map(
        (tab) =>
          visited.includes(tab.value) && (
            <Activity key={tab.value} mode={tab === current ? 'visible' : 'hidden'}>
              <Suspense fallback={<ListOutline rows={4} />}>{tab.panel}</Suspense>
            </Activity>
          ),
      )}
    </>
  )
}
