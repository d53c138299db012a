import { Anchor, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import type { UpstreamDetails } from './imports_query.ts'
import classes from './source_panel.module.css'

const FIRST = 100
const STATES = { drifted: 'Drifted', gone: 'Gone' } as const

/** The tools, prompts, resources and templates of a server. */
export function UpstreamOffers({ upstream }: { upstream: UpstreamDetails }) {
  const { tools, prompts, resources, resource_templates: templates } = upstream
  const lists = [
    { title: 'Prompts', entries: prompts },
    { title: 'Resources', entries: resources },
    { title: 'Resource templates', entries: templates },
  ].filter(({ entries }) => entries.length > 0)
  return (
    <>
      <section aria-label="Tools">
        <Title order={3} size="h5" mb={6}>
          Tools ({tools.length})
        </Title>
        <ul className={classes.names}>
          {tools.slice(0, FIRST).map((tool) => (
            <li key={tool.id}>
              <Anchor
                size="sm"
                renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: tool.name }} {...props} />}
              >
                <ForeignText isMono limit={120}>
                  {tool.name}
                </ForeignText>
              </Anchor>
              {tool.drifted && <StatusBadge tone="warn">Drifted</StatusBadge>}
              {!tool.is_active && <StatusBadge tone="idle">Inactive</StatusBadge>}
            </li>
          ))}
        </ul>
        <Rest count={tools.length} />
      </section>
      {lists.map(({ title, entries }) => (
        <section key={title} aria-label={title}>
          <Title order={3} size="h5" mb={6}>
            {title} ({entries.length})
          </Title>
          <ul className={classes.names}>
            {entries.slice(0, FIRST).map((entry) => (
              <li key={entry.name}>
                <ForeignText isMono limit={200}>
                  {entry.listed_as}
                </ForeignText>
                {entry.state !== 'active' && <StatusBadge tone="warn">{STATES[entry.state]}</StatusBadge>}
              </li>
            ))}
          </ul>
          <Rest count={entries.length} />
        </section>
      ))}
    </>
  )
}

function Rest({ count }: { count: number }) {
  if (count <= FIRST) return null
  return (
    <Text size="sm" c="dimmed" mt={4}>
      The first {FIRST} of {count.toLocaleString('en')}
    </Text>
  )
}
