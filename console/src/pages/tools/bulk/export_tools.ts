import { api, type Schemas, unwrap } from '../../../shared/api/client.ts'
import { saveFile } from '../../../shared/copy/save_file.ts'
import { type Definition, toDefinition } from '../../../shared/definition/definition_values.ts'
import { writeYaml } from '../../../shared/definition/definition_yaml.ts'
import { MASK } from '../../../shared/definition/hidden_secrets.ts'
import { parseExactly } from '../../../shared/json/exact_json.ts'
import type { Tool } from './bulk_requests.ts'

/** Collects the definitions of tools, and saves them as a file that `pegboard apply` reads. */
export class ToolExport {
  readonly #definitions = new Map<string, Definition>()
  readonly #schema: Schemas['KindList']['definition_schema']

  constructor(schema: Schemas['KindList']['definition_schema']) {
    this.#schema = schema
  }

  /** Read the definition of one tool; throw an error that says why it cannot be exported. */
  add = async (tool: Tool): Promise<void> => {
    // Such tools have an id made of their name.
    if (tool.id.charAt(14) === '5') throw new Error('it ships with the board or comes from a tables file')
    const request = api.GET('/v1/tools/{ref}', { params: { path: { ref: tool.id } }, parseAs: 'text' })
    const whole = parseExactly((await unwrap(request)) as string) as Schemas['ToolResponse']
    if (!whole.config) throw new Error('only its owner and admins see its config')
    this.#definitions.set(tool.id, toDefinition(whole, this.#schema))
  }

  /** Save the file, in the order of these tools; return whether credentials in it are masked. */
  save(tools: readonly Tool[]): boolean {
    const definitions = tools.flatMap((tool) => this.#definitions.get(tool.id) ?? [])
    saveFile([writeYaml({ tools: definitions })], 'tools.yaml')
    return JSON.stringify(definitions).includes(`"${MASK}"`)
  }
}
