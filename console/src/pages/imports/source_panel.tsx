import { CloseButton, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { DocumentDetails } from './document_details.tsx'
import classes from './source_panel.module.css'
import type { Source } from './sources.ts'
import { UpstreamPanel } from './upstream_panel.tsx'

interface SourcePanelProps {
  /** What the address names: the id of an MCP server, or the key of an API document. */
  id: string
  /** What the list has of it, unless it is not in the list. */
  source: Source | undefined
  onClose: () => void
}

/** An MCP server or an API document, beside the list. */
export function SourcePanel({ id, source, onClose }: SourcePanelProps) {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    if (panel.current && panel.current.getBoundingClientRect().top < 0) panel.current.scrollIntoView()
  }, [])
  let content: ReactNode = <UpstreamPanel id={id} onRemoved={onClose} />
  if (source?.kind === 'openapi') content = <DocumentDetails document={source.document} />
  else if (!source && !/^[\da-f-]{36}$/i.test(id)) {
    content = <Text size="sm">No source has this key. Its tools may have been deleted, or have lost its tag.</Text>
  }
  return (
    <aside ref={panel} className={classes.panel} aria-label="Source">
      <Group justify="space-between" wrap="nowrap" align="start" mb="sm">
        <Title order={2}>{source ? <ForeignText limit={120}>{source.name}</ForeignText> : 'Source'}</Title>
        <CloseButton onClick={onClose} aria-label="Close" />
      </Group>
      <Stack gap="md">{content}</Stack>
    </aside>
  )
}
