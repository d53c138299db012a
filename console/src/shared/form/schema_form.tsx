import './form_styles.ts'
import { Form } from '@rjsf/mantine'
import type { ErrorSchema, UiSchema } from '@rjsf/utils'
import { AddButton } from './add_button.tsx'
import { ArrayTitle } from './array_title.tsx'
import { cfworkerValidator } from './cfworker_validator.ts'
import type { FieldErrors } from './field_errors.ts'
import { FormTitle } from './form_title.tsx'
import { GroupErrors } from './group_errors.tsx'
import type { SchemaNode } from './schema_node.ts'

const UI: UiSchema = { 'ui:submitButtonOptions': { norender: true } }

const TEMPLATES = {
  TitleFieldTemplate: FormTitle,
  ArrayFieldTitleTemplate: ArrayTitle,
  FieldErrorTemplate: GroupErrors,
  ButtonTemplates: { AddButton },
}

interface SchemaFormProps {
  id: string
  schema: SchemaNode
  value: unknown
  errors: FieldErrors
  onChange: (value: unknown) => void
  onSubmit: () => void
}

/** A form for a schema. The server validates; the form shows its errors at their fields. */
export default function SchemaForm({ id, schema, value, errors, onChange, onSubmit }: SchemaFormProps) {
  return (
    <Form
      id={id}
      idPrefix={id}
      schema={schema}
      uiSchema={UI}
      templates={TEMPLATES}
      validator={cfworkerValidator}
      formData={value}
      extraErrors={errors as ErrorSchema}
      onChange={(event) => onChange(event.formData)}
      onSubmit={onSubmit}
      noValidate
      noHtml5Validate
      showErrorList={false}
      experimental_defaultFormStateBehavior={{ emptyObjectFields: 'skipEmptyDefaults' }}
    />
  )
}
