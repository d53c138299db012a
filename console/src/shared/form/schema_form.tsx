import './form_styles'
import { Form } from '@rjsf/mantine'
import type { ErrorSchema, UiSchema } from '@rjsf/utils'
import { AddButton } from './add_button'
import { ArrayTitle } from './array_title'
import { cfworkerValidator } from './cfworker_validator'
import type { FieldErrors } from './field_errors'
import { FormTitle } from './form_title'
import { GroupErrors } from './group_errors'
import type { SchemaNode } from './schema_node'

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
