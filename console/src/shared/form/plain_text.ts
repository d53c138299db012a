interface PlainTextProps {
  children?: unknown
}

/** In place of the Markdown of rjsf: what others wrote is text, and never becomes elements. */
export function Markdown({ children }: PlainTextProps) {
  return typeof children === 'string' ? children : ''
}
