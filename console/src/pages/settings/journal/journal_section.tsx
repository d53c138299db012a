import { PrunePanel } from './prune_panel.tsx'
import { VerificationPanel } from './verification_panel.tsx'

/** The journal: whether somebody changed it, and how long its rows are kept. */
export default function JournalSection() {
  return (
    <>
      <VerificationPanel />
      <PrunePanel />
    </>
  )
}
