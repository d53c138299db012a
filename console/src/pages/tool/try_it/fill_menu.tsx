import { Button, Menu, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'
import { defaultArguments, sampleArguments } from '../../../shared/form/sample_arguments.ts'
import { spellHidden } from '../../../shared/text/visible_text.ts'

interface FillMenuProps {
  tool: Schemas['ToolResponse']
  onFill: (value: unknown) => void
}

/** Fills in an example, or arguments that the journal keeps. */
export function FillMenu({ tool, onFill }: FillMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const recent = useQuery({
    queryKey: ['recent-arguments', tool.name],
    queryFn: ({ signal }) => {
      const query = { tool: tool.name, limit: 20 }
      return unwrap(api.GET('/v1/executions', { params: { query }, signal }))
    },
    enabled: isOpen && tool.keep_arguments === true,
    select: (page) => {
      const kept = page.items.filter((row) => row.arguments !== null && row.arguments !== undefined)
      return [...new Map(kept.map((row) => [JSON.stringify(row.arguments), row])).values()].slice(0, 6)
    },
  })
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" width={300}>
      <Menu.Target>
        <Button size="xs" variant="default">
          Fill in
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onFill(sampleArguments(tool.input_schema))}>An example</Menu.Item>
        <Menu.Item onClick={() => onFill(defaultArguments(tool.input_schema))}>The defaults</Menu.Item>
        <Menu.Divider />
        <Menu.Label>Recent arguments</Menu.Label>
        {recent.data?.map((row) => (
          <Menu.Item key={row.id} onClick={() => onFill(row.arguments)}>
            <Text size="xs" ff="monospace" truncate>
              {spellHidden(JSON.stringify(row.arguments)).slice(0, 120)}
            </Text>
          </Menu.Item>
        ))}
        {!recent.data?.length && (
          <Text size="xs" c="dimmed" px="sm" pb="xs">
            {tool.keep_arguments
              ? 'No call yet.'
              : 'The journal does not keep the arguments of this tool (keep_arguments).'}
          </Text>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
