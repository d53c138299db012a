import { asNode } from '../form/schema_node.ts'
import { setOwn } from '../json/set_own.ts'
import { type Definition, isSame } from './definition_values.ts'

/** What the board shows in place of a secret; sent back, it keeps the stored value. */
export const MASK = '********'
const SECRET_MAPS = ['headers', 'env']
const ONLY_REFERENCE = /^(\w+ )?\{\{secret:[\w.-]+\}\}$/

/** Return the definition for a difference: new values of secrets are named, not shown. */
export function hideSecrets(definition: Definition, base: Definition = {}): Definition {
  const config = asNode(definition.config)
  const before = asNode(base.config)
  const hidden = { ...definition }
  if (config) {
    const shown = { ...config }
    for (const name of SECRET_MAPS) {
      if (Object.hasOwn(config, name)) setOwn(shown, name, hideValues(config[name], before?.[name]))
    }
    hidden.config = shown
  }
  if ('auth_config' in definition) hidden.auth_config = hideAuth(definition.auth_config, base.auth_config)
  return hidden
}

function hideAuth(value: unknown, before: unknown): unknown {
  const auth = asNode(value)
  const hidden = hideValues(value, before)
  return auth && 'type' in auth ? { ...(hidden as Definition), type: auth.type } : hidden
}

function hideValues(value: unknown, before: unknown): unknown {
  if (typeof value === 'string') {
    return value === MASK || ONLY_REFERENCE.test(value) || isSame(value, before) ? value : '(a new value, not shown)'
  }
  const object = asNode(value)
  if (!object) return value
  const hidden: Definition = {}
  for (const [name, inner] of Object.entries(object)) setOwn(hidden, name, hideValues(inner, asNode(before)?.[name]))
  return hidden
}
