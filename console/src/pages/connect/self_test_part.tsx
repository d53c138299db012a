import { Alert, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { formatDuration } from '../../shared/format/numbers.ts'
import { Icon } from '../../shared/icons/icon.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ResultView } from '../../shared/result/result_view.tsx'
import { ErrorState } from '../../shared/states/error_state.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { runTest, type TestStep, type TestTarget } from './self_test.ts'

type State =
  | { phase: 'idle' }
  | { phase: 'running' | 'ended' | 'failed'; steps: TestStep[]; row?: string | undefined; error?: unknown }

interface SelfTestPartProps {
  target: TestTarget
  isDestructive: boolean
}

/** Makes the call from this page as the client would, and shows each answer. */
export function SelfTestPart({ target, isDestructive }: SelfTestPartProps) {
  const [state, setState] = useState<State>({ phase: 'idle' })
  const running = useRef<AbortController>(null)
  const queryClient = useQueryClient()
  useEffect(() => () => running.current?.abort(), [])
  const start = async () => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    let steps: TestStep[] = []
    const change = (next: State) => {
      if (running.current === controller) setState(next)
    }
    change({ phase: 'running', steps })
    try {
      const row = await runTest(target, controller.signal, (step) => {
        steps = [...steps, step]
        change({ phase: 'running', steps })
      })
      change({ phase: 'ended', steps, row })
    } catch (error) {
      if (!controller.signal.aborted) change({ phase: 'failed', steps, error })
    }
    void queryClient.invalidateQueries({ queryKey: ['execution-list'] })
  }
  const steps = state.phase === 'idle' ? [] : state.steps
  const last = steps.at(-1)
  return (
    <section aria-label="Self-test">
      <Title order={2} mb={6}>
        Test the connection
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {target.isMcp
          ? 'This page connects as an MCP client: initialize, tools/list, and one call of '
          : 'This page makes one call of '}
        <ForeignText isMono>{target.tool}</ForeignText> with the arguments of the example, as you, through your session
        instead of a key. The tool runs, and the call is in the journal.
      </Text>
      {isDestructive && (
        <Alert color="yellow" variant="light" icon={<Icon name="alert" />} mb="sm" title="This tool is destructive">
          The test calls it for real. Choose another tool above if you do not want its effects.
        </Alert>
      )}
      <Button
        variant="default"
        leftSection={<Icon name="play" size={14} />}
        loading={state.phase === 'running'}
        onClick={() => void start()}
      >
        {target.isMcp ? 'Test over MCP' : 'Test over REST'}
      </Button>
      <Stack gap="sm" mt="md" aria-live="polite">
        {steps.map((step) => (
          <Group key={step.title} gap="xs">
            <StatusBadge tone={step.isFailed ? 'bad' : 'good'} hasDot>
              {step.isFailed ? 'Failed' : 'OK'}
            </StatusBadge>
            <ForeignText isMono limit={200}>
              {step.title}
            </ForeignText>
            <Text size="sm" c="dimmed">
              <ForeignText limit={300}>{step.summary}</ForeignText>, {formatDuration(step.elapsed)}
            </Text>
          </Group>
        ))}
        {state.phase === 'ended' && state.row !== undefined && (
          <Anchor
            size="sm"
            underline="always"
            renderRoot={(props) => <Link to="/executions" search={{ open: state.row }} {...props} />}
          >
            Its row in Executions
          </Anchor>
        )}
        {state.phase === 'failed' && <ErrorState error={state.error} what="The test" retry={() => void start()} />}
        {state.phase !== 'running' && last && (
          <section aria-label="Answer">
            <ResultView value={last.answer} first="json" />
          </section>
        )}
      </Stack>
    </section>
  )
}
