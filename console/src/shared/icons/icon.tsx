const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  tools: 'M14.5 6.5a4 4 0 0 1 5-3.9l-2.6 2.6 1.9 1.9 2.6-2.6a4 4 0 0 1-5.3 4.8L8 17.4a2 2 0 1 1-2.8-2.8L13.300 6.500z',
  imports: 'M12 3v10M8 9l4 4 4-4M4 14v6h16v-6',
  connect: 'M9 15l6-6M10.500 6.500l2-2a4.200 4.200 0 0 1 6 6l-2 2M13.500 17.500l-2 2a4.200 4.200 0 0 1-6-6l2-2',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  pause: 'M8 5v14M16 5v14',
  executions: 'M4 6h10M4 12h16M4 18h7M18 4v4M16 6h4',
  conversations: 'M4 5h12v9H9l-4 4v-4H4zM19 9h1v8h-1v3l-3-3h-4',
  agents: 'M5 8h14v11H5zM12 8V4M9 4h6M9 12.500v1.500M15 12.500v1.500M2 12v4M22 12v4',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l4.500 4.500',
  sun: 'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z',
  system: 'M3 5h18v11H3zM9 20h6M12 16v4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  play: 'M7 5l12 7-12 7z',
  stop: 'M6 6h12v12H6z',
  add: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  alert: 'M12 3l9.500 17h-19zM12 10v4M12 17v.100',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
  chevron: 'M9 6l6 6-6 6',
  account: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 20c1-4 4-6 8-6s7 2 8 6',
  keyboard: 'M3 7h18v10H3zM7 11v.100M11 11v.100M15 11v.100M8 14h8',
  logout: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  settings: 'M4 7h9M17 7h3M15 5v4M4 12h3M11 12h9M9 10v4M4 17h9M17 17h3M15 15v4',
  plus: 'M12 5v14M5 12h14',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  refresh: 'M20 12a8 8 0 1 1-2.300-5.700M20 4v5h-5',
  book: 'M5 4h12a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2zM5 18a2 2 0 0 1 2-2h12',
} as const

export type IconName = keyof typeof PATHS

interface IconProps {
  name: IconName
  size?: number
}

/** A drawing beside a text that says the same; screen readers skip it. */
export function Icon({ name, size = 18 }: IconProps) {
  return (
    <svg
      aria-hidden="true"
      focusable="false"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
