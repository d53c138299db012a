import { Button, Collapse, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { RegistryFieldsType, RegistryWidgetsType, UiSchema } from '@rjsf/utils'
import { useCallback, useMemo } from 'react'
import type { FieldErrors } from '../form/field_errors.ts'
import SchemaForm from '../form/schema_form.tsx'
import { asNode } from '../form/schema_node.ts'
import { Icon } from '../icons/icon.tsx'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './definition.module.css'
import { type Definition, dropFilledIn } from './definition_values.ts'
import type { FormPart, FormParts } from './form_parts.ts'
import { fromFormValue, toFormValue } from './form_values.ts'
import { JsonField } from './json_field.tsx'
import { PythonField } from './python_field.tsx'
import { SecretWidget } from './secret_widget.tsx'

const FIELDS = { json: JsonField, python: PythonField } as unknown as RegistryFieldsType
const WIDGETS: RegistryWidgetsType = { secret: SecretWidget }

interface DefinitionFormProps {
  parts: FormParts
  value: Definition
  errors: FieldErrors
  onChange: (change: (value: Definition) => Definition) => void
  onBroken: (id: string, isBroken: boolean) => void
  onSubmit: () => void
}

/** The form of a definition: what most tools need, and the rest behind a button. */
export default function DefinitionForm({ parts, value, errors, onChange, onBroken, onSubmit }: DefinitionFormProps) {
  const context = useMemo(() => ({ onBroken }), [onBroken])
  const hidden = Object.keys(asNode(parts.more.schema?.properties) ?? {})
  const used = hidden.filter((name) => name in value || name in errors).length
  const [isOpen, more] = useDisclosure(hidden.some((name) => name in errors))
  const show = (part: FormPart, id: string) =>
    part.schema && (
      <PartForm id={id} part={part} {...{ parts, value, errors, onChange, onSubmit, context }} schema={part.schema} />
    )
  const left = [...parts.main.left, ...parts.more.left]
  return (
    <Stack gap="md">
      {show(parts.main, 'definition')}
      <Button
        variant="subtle"
        size="xs"
        onClick={more.toggle}
        aria-expanded={isOpen}
        style={{ alignSelf: 'flex-start' }}
        leftSection={
          <span className={isOpen ? classes.opened : undefined}>
            <Icon name="chevron" size={14} />
          </span>
        }
      >
        {isOpen ? 'Fewer settings' : `More settings${used > 0 ? ` (${used} set)` : ''}`}
      </Button>
      <Collapse expanded={isOpen}>{isOpen && show(parts.more, 'settings')}</Collapse>
      {left.length > 0 && (
        <div>
          <Text size="sm">Not in this form; write it as YAML:</Text>
          <ul className={classes.left}>
            {left.slice(0, 12).map((part) => (
              <li key={part}>
                <ForeignText limit={160}>{part}</ForeignText>
              </li>
            ))}
            {left.length > 12 && <li>{left.length - 12} more</li>}
          </ul>
        </div>
      )}
    </Stack>
  )
}

interface PartFormProps extends Omit<DefinitionFormProps, 'onBroken'> {
  id: string
  part: FormPart
  schema: NonNullable<FormPart['schema']>
  context: object
}

function PartForm({ id, part, parts, schema, value, errors, onChange, onSubmit, context }: PartFormProps) {
  const names = useMemo(() => Object.keys(asNode(schema.properties) ?? {}), [schema])
  const own = useMemo(() => toFormValue(pick(value, names), part.ui), [value, names, part])
  const change = useCallback(
    (filled: unknown) =>
      onChange((before) => {
        const next = dropFilledIn(asNode(fromFormValue(filled, part.ui)) ?? {}, parts.whole, before)
        const kept = Object.entries(before).flatMap(([name, old]): [string, unknown][] => {
          if (!names.includes(name)) return [[name, old]]
          return name in next ? [[name, next[name]]] : []
        })
        return Object.fromEntries([...kept, ...Object.entries(next).filter(([name]) => names.includes(name))])
      }),
    [onChange, part, parts, names],
  )
  return (
    <SchemaForm
      id={id}
      schema={schema}
      value={own}
      errors={errors}
      onChange={change}
      onSubmit={onSubmit}
      ui={part.ui as UiSchema}
      fields={FIELDS}
      widgets={WIDGETS}
      context={context}
    />
  )
}

function pick(value: Definition, names: string[]): Definition {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(value, name) ? [[name, value[name]]] : [])))
}
