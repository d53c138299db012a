import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'

/** The link to the page of a tool. */
export function ToolLink({ name }: { name: string }) {
  return (
    <Anchor
      underline="always"
      size="sm"
      renderRoot={(props) => <Link to="/tools/$ref" params={{ ref: name }} {...props} />}
    >
      <ForeignText isMono>{name}</ForeignText>
    </Anchor>
  )
}
