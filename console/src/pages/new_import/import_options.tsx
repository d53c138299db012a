import { NativeSelect, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core'
import type { ImportForm } from './import_form.ts'

const VISIBILITY = [
  { value: '', label: 'Private if new, else as they are' },
  { value: 'private', label: 'Private' },
  { value: 'public', label: 'Public' },
]

interface ImportOptionsProps {
  form: ImportForm
  isMcp: boolean
  onChange: (next: Partial<ImportForm>) => void
}

/** Which tools are imported, under which names, and who may call them. */
export function ImportOptions({ form, isMcp, onChange }: ImportOptionsProps) {
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Prefix"
          description="In front of the name of every tool"
          placeholder="pets_"
          value={form.prefix}
          onChange={(event) => onChange({ prefix: event.currentTarget.value })}
          spellCheck={false}
        />
        <TextInput
          label="Only these"
          description={
            isMcp ? 'Patterns of names, separated by commas' : 'Patterns of names, routes or tags, separated by commas'
          }
          placeholder={isMcp ? 'get_*, list_*' : 'get_*, GET /pets*'}
          value={form.include}
          onChange={(event) => onChange({ include: event.currentTarget.value })}
          spellCheck={false}
        />
        <NativeSelect
          label="The tools are"
          description="Who may call them"
          value={form.visibility}
          data={VISIBILITY}
          onChange={(event) => onChange({ visibility: event.currentTarget.value as ImportForm['visibility'] })}
        />
        {isMcp ? (
          <TextInput
            label="Name of the server"
            description="By default its host or program"
            value={form.name}
            onChange={(event) => onChange({ name: event.currentTarget.value })}
            spellCheck={false}
          />
        ) : (
          <TextInput
            label="Address of the API"
            description="Instead of the one in the document"
            placeholder="https://api.example.com/v1"
            value={form.apiUrl}
            onChange={(event) => onChange({ apiUrl: event.currentTarget.value })}
            spellCheck={false}
          />
        )}
      </SimpleGrid>
      {isMcp && (
        <Switch
          label="Follow: add what the server offers later by itself. Changes are still refused until they are accepted"
          checked={form.follow}
          onChange={(event) => onChange({ follow: event.currentTarget.checked })}
        />
      )}
    </Stack>
  )
}
