import './shared/theme/styles.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { installTrustedTypes } from './shared/security/trusted_types.ts'
import { removeCodeFromAddress } from './shared/session/one_time_code.ts'

installTrustedTypes()
removeCodeFromAddress()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
