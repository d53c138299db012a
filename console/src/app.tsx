import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { router } from './router.tsx'
import { queryClient } from './shared/query/query_client.ts'
import { readNonce } from './shared/security/nonce.ts'
import { resolveVariables, theme } from './shared/theme/theme.ts'

const schemeManager = localStorageColorSchemeManager({ key: 'pegboard-color-scheme' })

// The scroll lock of dialogs writes a style of its own, with this nonce.
Object.assign(globalThis, { __webpack_nonce__: readNonce() })

/** The console: its theme, its data and its pages. */
export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      getStyleNonce={readNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
      <Notifications position="bottom-right" autoClose={6000} />
    </MantineProvider>
  )
}
