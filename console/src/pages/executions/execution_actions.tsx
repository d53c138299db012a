import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Icon } from '../../shared/icons/icon.tsx'
import { useShortcuts } from '../../shared/keyboard/use_shortcuts.ts'
import { ListOutline } from '../../shared/states/list_outline.tsx'
import type { Execution } from './executions_query.ts'
import type { ExecutionsSearch } from './executions_search.ts'

const ReplayPart = lazy(() => import('./replay_part.tsx'))
const ProofPart = lazy(() => import('./proof_part.tsx'))

export interface PartChoice {
  /** What is opened in the row, from the address. */
  part: ExecutionsSearch['part']
  onPart: (part: ExecutionsSearch['part']) => void
}

/** What can be done with a row: replay it, fill it into the form of its tool, and prove it. */
export function ExecutionActions({ row, part: opened, onPart }: { row: Execution } & PartChoice) {
  const toggle = (part: ExecutionsSearch['part']) => onPart(opened === part ? undefined : part)
  useShortcuts({ r: () => onPart('replay') })
  return (
    <>
      <Group gap="xs">
        {row.tool_id && (
          <Button
            variant={opened === 'replay' ? 'light' : 'default'}
            size="xs"
            leftSection={<Icon name="refresh" size={14} />}
            aria-expanded={opened === 'replay'}
            onClick={() => toggle('replay')}
          >
            Replay
          </Button>
        )}
        <Button
          variant={opened === 'proof' ? 'light' : 'default'}
          size="xs"
          leftSection={<Icon name="check" size={14} />}
          aria-expanded={opened === 'proof'}
          onClick={() => toggle('proof')}
        >
          Proof
        </Button>
        {row.tool_id && (
          <Button
            variant="default"
            size="xs"
            leftSection={<Icon name="play" size={14} />}
            renderRoot={(props) => (
              <Link
                to="/tools/$ref"
                params={{ ref: row.tool_name }}
                search={{ from: row.arguments ? row.id : undefined }}
                {...props}
              />
            )}
          >
            {row.arguments ? 'Try again with these arguments' : 'Try the tool'}
          </Button>
        )}
      </Group>
      {opened && (
        <Suspense fallback={<ListOutline rows={2} />}>
          {opened === 'replay' ? <ReplayPart row={row} /> : <ProofPart id={row.id} />}
        </Suspense>
      )}
    </>
  )
}
