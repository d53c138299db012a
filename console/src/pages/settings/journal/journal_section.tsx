import { PrunePanel } from './prune_panel.tsx'
import { VerificationPanel } from './verification_panel.tsx'

/** The journal: whether it was changed in the database, and the removal of old rows. */
export default function JournalSection() {
  return (
    <>
      <VerificationPanel />
      <PrunePanel />
    </>
  )
}
