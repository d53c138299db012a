import { type Schema, Validator } from '@cfworker/json-schema'
import {
  type CustomValidator,
  createErrorHandler,
  type ErrorTransformer,
  type RJSFSchema,
  type RJSFValidationError,
  toErrorSchema,
  unwrapErrorHandler,
  type ValidationData,
  type ValidatorType,
} from '@rjsf/utils'

// rjsf asks the same schema often; a compiled one has no parts that change.
const compiled = new WeakMap<object, Validator>()

/** Validates for rjsf without generating code, which the page's policy forbids. */
export const cfworkerValidator: ValidatorType = { isValid, rawValidation, validateFormData }

function isValid(schema: RJSFSchema, formData: unknown, rootSchema: RJSFSchema): boolean {
  try {
    if (schema === rootSchema) return validate(schema, formData).length === 0
    const { definitions, $defs } = rootSchema
    return validate({ definitions, $defs, ...schema }, formData).length === 0
  } catch {
    return false // rjsf: an invalid schema has no valid value
  }
}

function rawValidation<Result>(schema: RJSFSchema, formData?: unknown): { errors?: Result[]; validationError?: Error } {
  try {
    return { errors: validate(schema, formData) as Result[] }
  } catch (error) {
    return { validationError: error as Error }
  }
}

function validateFormData(
  formData: unknown,
  schema: RJSFSchema,
  customValidate?: CustomValidator,
  transformErrors?: ErrorTransformer,
): ValidationData<unknown> {
  const found = rawValidation<RJSFValidationError>(schema, formData).errors ?? []
  const errors = transformErrors ? transformErrors(found) : found
  const errorSchema = toErrorSchema(errors)
  if (!customValidate) return { errors, errorSchema }
  const handler = customValidate(formData, createErrorHandler(formData))
  return { errors, errorSchema: { ...errorSchema, ...unwrapErrorHandler(handler) } }
}

function validate(schema: RJSFSchema, formData: unknown): RJSFValidationError[] {
  let validator = compiled.get(schema)
  if (!validator) {
    validator = new Validator(schema as Schema, '7', false)
    compiled.set(schema, validator)
  }
  // A value that is not given yet is validated as an empty object, as the form shows it.
  return validator.validate(formData ?? {}).errors.map((error) => ({
    name: error.keyword,
    property: error.instanceLocation.replace(/^#/, '').replaceAll('/', '.'),
    message: error.error,
    stack: `${error.instanceLocation} ${error.error}`,
  }))
}
