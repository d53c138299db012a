import './form_styles.ts'
import { Form } from '@rjsf/mantine'
import type { ErrorSchema, RegistryFieldsType, RegistryWidgetsType, UiSchema } from '@rjsf/utils'
import { AddButton } from './add_button.tsx'
import { ArrayTitle } from './array_title.tsx'
import { cfworkerValidator } from './cfworker_validator.ts'
import type { FieldErrors } from './field_errors.ts'
import { FormDescription } from './form_description.tsx'
import { FormTitle } from './form_title.tsx'
import { GroupErrors } from './group_errors.tsx'
import type { SchemaNode } from './schema_node.ts'

const UI: UiSchema = { 'ui:submitButtonOptions': { norender: true } }

const TEMPLATES = {
  DescriptionFieldTemplate: FormDescription,
  TitleFieldTemplate: FormTitle,
  ArrayFieldTitleTemplate: ArrayTitle,
  FieldErrorTemplate: GroupErrors,
  ButtonTemplates: { AddButton },
}

// A form fills in defaults, but no items that the person did not add: they would make an object that was left out.
const BEHAVIOUR = { emptyObjectFields: 'skipEmptyDefaults', arrayMinItems: { populate: 'never' } } as const

interface SchemaFormProps {
  id: string
  schema: SchemaNode
  value: unknown
  errors: FieldErrors
  onChange: (value: unknown) => void
  onSubmit: () => void
  /** How fields are shown, with fields and widgets of the caller; the same objects as long as nothing changes. */
  ui?: UiSchema
  fields?: RegistryFieldsType
  widgets?: RegistryWidgetsType
  /** What the fields of the caller get as `registry.formContext`. */
  context?: object
}

/** A form for a schema. The server validates; the form shows its errors at their fields. */
export default function SchemaForm(props: SchemaFormProps) {
  const { id, schema, value, errors, onChange, onSubmit, ui, fields, widgets, context } = props
  return (
    <Form
      id={id}
      idPrefix={id}
      schema={schema}
      uiSchema={ui ? { ...ui, ...UI } : UI}
      templates={TEMPLATES}
      fields={fields}
      widgets={widgets}
      formContext={context}
      validator={cfworkerValidator}
      formData={value}
      extraErrors={errors as ErrorSchema}
      onChange={(event) => onChange(event.formData)}
      onSubmit={onSubmit}
      noValidate
      noHtml5Validate
      showErrorList={false}
      experimental_defaultFormStateBehavior={BEHAVIOUR}
    />
  )
}
