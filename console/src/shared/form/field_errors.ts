/** The errors of a form by field, as rjsf takes them. */
export interface FieldErrors {
  __errors?: string[]
  [field: string]: FieldErrors | string[] | undefined
}

export interface FieldProblem {
  field?: string | null
  message?: string
}

/** Return the problems of a refused call by field; `items[2].price` is the path of one. */
export function placeErrors(problems: FieldProblem[]): FieldErrors {
  const root: FieldErrors = {}
  for (const { field, message } of problems) {
    let node = root
    for (const step of splitPath(field ?? '')) {
      const inner: FieldErrors = Object.hasOwn(node, step) ? (node[step] as FieldErrors) : {}
      Object.defineProperty(node, step, { value: inner, enumerable: true, configurable: true, writable: true })
      node = inner
    }
    node.__errors = [...(node.__errors ?? []), message ?? 'This value was refused']
  }
  return root
}

/** Return the names and indexes of a path such as `address.lines[0]`. */
export function splitPath(path: string): string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== '')
}
