import { ConfirmDialog } from '../../../shared/action/confirm_dialog.tsx'
import { useAction } from '../../../shared/action/use_action.ts'
import { api, unwrap } from '../../../shared/api/client.ts'
import { spellHidden } from '../../../shared/text/visible_text.ts'
import { describeEffects } from './describe_effects.ts'
import type { Secret } from './secrets_query.ts'

interface RemoveSecretDialogProps {
  secret: Secret
  onClose: () => void
}

/** Asks before a secret is removed, and names the tools that will fail. */
export function RemoveSecretDialog({ secret, onClose }: RemoveSecretDialogProps) {
  const remove = useAction({
    run: () => unwrap(api.DELETE('/v1/secrets/{name}', { params: { path: { name: secret.name } } })),
    changes: [['secrets']],
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={`Remove the secret “${spellHidden(secret.name)}”?`}
      effects={describeEffects(secret)}
      submit="Remove secret"
      isOpen
      onClose={onClose}
      action={remove}
    />
  )
}
