import { json, jsonParseLinter } from '@codemirror/lang-json'
import { python } from '@codemirror/lang-python'
import { yaml } from '@codemirror/lang-yaml'
import { indentUnit } from '@codemirror/language'
import { linter } from '@codemirror/lint'
import type { Extension } from '@codemirror/state'

export type Language = 'json' | 'payload' | 'yaml' | 'python'

/** The syntax of each language. JSON reports its own faults; those of other languages come from outside. */
export const LANGUAGES: Record<Language, () => Extension> = {
  json: () => [
    json(),
    linter((editor) => (editor.state.doc.toString().trim() === '' ? [] : jsonParseLinter()(editor))),
  ],
  // JSON, lines of JSON, or the text of a model: only the server knows what is wrong with it.
  payload: () => json(),
  yaml: () => yaml(),
  python: () => [python(), indentUnit.of('    ')],
}
