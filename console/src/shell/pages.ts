import type { IconName } from '../shared/icons/icon.tsx'

/** The pages of the navigation, in its order, each with the letter that follows `g`. */
export const PAGES = [
  { to: '/overview', label: 'Overview', icon: 'overview', letter: 'o' },
  { to: '/tools', label: 'Tools', icon: 'tools', letter: 't' },
  { to: '/imports', label: 'Imports', icon: 'imports', letter: 'i' },
  { to: '/live', label: 'Live', icon: 'live', letter: 'l' },
  { to: '/executions', label: 'Executions', icon: 'executions', letter: 'e' },
  { to: '/conversations', label: 'Conversations', icon: 'conversations', letter: 'v' },
  { to: '/agents', label: 'Agents', icon: 'agents', letter: 'a' },
  { to: '/connect', label: 'Connect', icon: 'connect', letter: 'c' },
  { to: '/settings', label: 'Settings', icon: 'settings', letter: 's' },
] as const satisfies readonly { to: string; label: string; icon: IconName; letter: string }[]
