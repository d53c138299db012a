import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { readAgentSearch } from './pages/agent/agent_search.ts'
import { readAgentsSearch } from './pages/agents/agents_search.ts'
import { readConnectSearch } from './pages/connect/connect_search.ts'
import { readConversationSearch } from './pages/conversation/conversation_search.ts'
import { readConversationsSearch } from './pages/conversations/conversations_search.ts'
import { readExecutionsSearch } from './pages/executions/executions_search.ts'
import { readImportsSearch } from './pages/imports/imports_search.ts'
import { readInspectorSearch } from './pages/inspector/inspector_search.ts'
import { readLiveSearch } from './pages/live/live_search.ts'
import { readNewImportSearch } from './pages/new_import/new_import_search.ts'
import { readNewToolSearch } from './pages/new_tool/new_tool_search.ts'
import { readOverviewSearch } from './pages/overview/overview_search.ts'
import { readSettingsSearch } from './pages/settings/settings_search.ts'
import { readToolSearch } from './pages/tool/tool_search.ts'
import { readToolsSearch } from './pages/tools/tools_search.ts'
import { CONSOLE_PATH } from './shared/api/base_path.ts'
import { NotFoundPage } from './shell/not_found_page.tsx'
import { RouteError } from './shell/route_error.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage, errorComponent: RouteError })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/overview', search: readOverviewSearch({}) })
  },
})

export const overviewRoute = createRoute({
  getParentRoute: () => root,
  path: '/overview',
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import('./pages/overview/overview_page.tsx'), 'OverviewPage'),
})

export const toolsRoute = createRoute({
  getParentRoute: () => root,
  path: '/tools',
  validateSearch: readToolsSearch,
  component: lazyRouteComponent(() => import('./pages/tools/tools_page.tsx'), 'ToolsPage'),
})

export const newToolRoute = createRoute({
  getParentRoute: () => root,
  path: '/tools/new',
  validateSearch: readNewToolSearch,
  component: lazyRouteComponent(() => import('./pages/new_tool/new_tool_page.tsx'), 'NewToolPage'),
})

export const toolRoute = createRoute({
  getParentRoute: () => root,
  path: '/tools/$ref',
  validateSearch: readToolSearch,
  component: lazyRouteComponent(() => import('./pages/tool/tool_page.tsx'), 'ToolPage'),
})

export const executionsRoute = createRoute({
  getParentRoute: () => root,
  path: '/executions',
  validateSearch: readExecutionsSearch,
  component: lazyRouteComponent(() => import('./pages/executions/executions_page.tsx'), 'ExecutionsPage'),
})

export const liveRoute = createRoute({
  getParentRoute: () => root,
  path: '/live',
  validateSearch: readLiveSearch,
  component: lazyRouteComponent(() => import('./pages/live/live_page.tsx'), 'LivePage'),
})

export const importsRoute = createRoute({
  getParentRoute: () => root,
  path: '/imports',
  validateSearch: readImportsSearch,
  component: lazyRouteComponent(() => import('./pages/imports/imports_page.tsx'), 'ImportsPage'),
})

export const newImportRoute = createRoute({
  getParentRoute: () => root,
  path: '/imports/new',
  validateSearch: readNewImportSearch,
  component: lazyRouteComponent(() => import('./pages/new_import/new_import_page.tsx'), 'NewImportPage'),
})

export const connectRoute = createRoute({
  getParentRoute: () => root,
  path: '/connect',
  validateSearch: readConnectSearch,
  component: lazyRouteComponent(() => import('./pages/connect/connect_page.tsx'), 'ConnectPage'),
})

const settingsHome = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$section', params: { section: 'account' } })
  },
})

export const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: '/settings/$section',
  validateSearch: readSettingsSearch,
  component: lazyRouteComponent(() => import('./pages/settings/settings_page.tsx'), 'SettingsPage'),
})

export const agentsRoute = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: readAgentsSearch,
  component: lazyRouteComponent(() => import('./pages/agents/agents_page.tsx'), 'AgentsPage'),
})

export const agentRoute = createRoute({
  getParentRoute: () => root,
  path: '/agents/$id',
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => import('./pages/agent/agent_page.tsx'), 'AgentPage'),
})

export const conversationsRoute = createRoute({
  getParentRoute: () => root,
  path: '/conversations',
  validateSearch: readConversationsSearch,
  component: lazyRouteComponent(() => import('./pages/conversations/conversations_page.tsx'), 'ConversationsPage'),
})

export const inspectorRoute = createRoute({
  getParentRoute: () => root,
  path: '/conversations/inspector',
  validateSearch: readInspectorSearch,
  component: lazyRouteComponent(() => import('./pages/inspector/inspector_page.tsx'), 'InspectorPage'),
})

export const conversationRoute = createRoute({
  getParentRoute: () => root,
  path: '/conversations/$id',
  validateSearch: readConversationSearch,
  component: lazyRouteComponent(() => import('./pages/conversation/conversation_page.tsx'), 'ConversationPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    overviewRoute,
    toolsRoute,
    newToolRoute,
    toolRoute,
    importsRoute,
    newImportRoute,
    liveRoute,
    executionsRoute,
    agentsRoute,
    agentRoute,
    conversationsRoute,
    inspectorRoute,
    conversationRoute,
    connectRoute,
    settingsHome,
    settingsRoute,
  ]),
  basepath: CONSOLE_PATH,
  // What no page reads is no part of its filters; `AddressNotice` names it.
  search: { strict: true },
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
