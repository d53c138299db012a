import { Link } from '@tanstack/react-router'
import { formatCount } from '../../shared/format/numbers.ts'
import { DataList } from '../../shared/list/data_list.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import classes from './imports_page.module.css'
import { SourceState } from './source_state.tsx'
import type { Source } from './sources.ts'

const COLUMNS = ['Name', 'Kind', 'Address', 'Tools', 'State', 'Last check']

interface SourceListProps {
  sources: Source[]
  openKey: string | undefined
  onOpen: (source: Source) => void
  hasMore: boolean
  loadMore: () => void
}

/** The rows of the imported MCP servers and API documents. */
export function SourceList({ sources, openKey, onOpen, hasMore, loadMore }: SourceListProps) {
  return (
    <DataList
      label="Sources"
      columns={COLUMNS}
      rows={sources}
      className={classes.grid}
      rowHeight={45}
      keyOf={(source) => source.key}
      onOpen={onOpen}
      openKey={openKey}
      hasMore={hasMore}
      loadMore={loadMore}
      renderCells={(source) => [
        <Link
          key="name"
          from="/imports"
          to="/imports"
          search={(all) => ({ ...all, open: source.key })}
          resetScroll={false}
          className={classes.link}
        >
          <ForeignText limit={120}>{source.name}</ForeignText>
        </Link>,
        <span key="kind" className={classes.muted}>
          {source.kind === 'mcp' ? 'MCP server' : 'API document'}
        </span>,
        <div key="address" className={classes.muted} title={spellHidden(source.address)}>
          {spellHidden(source.address)}
        </div>,
        <span key="tools" className={classes.number}>
          {formatCount(source.kind === 'mcp' ? source.upstream.counts.tools : source.document.tools)}
        </span>,
        <SourceState key="state" source={source} />,
        <span key="check" className={classes.muted}>
          <LastCheck source={source} />
        </span>,
      ]}
    />
  )
}

function LastCheck({ source }: { source: Source }) {
  if (source.kind === 'openapi') return '–'
  const { checked_at: checkedAt } = source.upstream.connection
  return checkedAt ? <TimeText isAge>{checkedAt}</TimeText> : 'Not yet'
}
