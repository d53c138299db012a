import { Stack, Textarea, TextInput } from '@mantine/core'
import type { ImportForm } from './import_form.ts'
import classes from './new_import_page.module.css'

interface ServerInputProps {
  form: ImportForm
  by: 'url' | 'command'
  onChange: (next: Partial<ImportForm>) => void
}

/** Where an MCP server is: its address, or the command that starts it on the machine of the board. */
export function ServerInput({ form, by, onChange }: ServerInputProps) {
  return (
    <Stack gap="sm">
      {by === 'url' ? (
        <TextInput
          label="Address of the server"
          description="Its streamable HTTP endpoint, which usually ends in /mcp"
          placeholder="https://tools.example.com/mcp"
          value={form.serverUrl}
          onChange={(event) => onChange({ serverUrl: event.currentTarget.value })}
          spellCheck={false}
        />
      ) : (
        <>
          <TextInput
            label="Command"
            description="The board starts it on its own machine, with the rights of the server"
            placeholder="npx -y @modelcontextprotocol/server-everything"
            value={form.command}
            onChange={(event) => onChange({ command: event.currentTarget.value })}
            spellCheck={false}
            classNames={{ input: classes.mono ?? '' }}
          />
          <TextInput
            label="Folder that it runs in"
            value={form.workingDir}
            onChange={(event) => onChange({ workingDir: event.currentTarget.value })}
            spellCheck={false}
          />
        </>
      )}
      <Textarea
        label={by === 'url' ? 'Headers' : 'Environment variables'}
        description="One NAME=VALUE a line. For a credential, store a secret below and write {{secret:NAME}} as the value"
        placeholder={by === 'url' ? 'X-Team=search' : 'GITHUB_TOKEN={{secret:github}}'}
        value={form.variables}
        onChange={(event) => onChange({ variables: event.currentTarget.value })}
        rows={2}
        spellCheck={false}
        classNames={{ input: classes.mono ?? '' }}
      />
    </Stack>
  )
}
