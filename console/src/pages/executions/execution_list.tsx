import { Link } from '@tanstack/react-router'
import { formatDuration } from '../../shared/format/numbers.ts'
import { DataList } from '../../shared/list/data_list.tsx'
import { StatusBadge } from '../../shared/list/status_badge.tsx'
import { spellHidden } from '../../shared/text/visible_text.ts'
import { TimeText } from '../../shared/time/time_text.tsx'
import classes from './executions_page.module.css'
import type { Execution } from './executions_query.ts'
import type { ExecutionsSearch } from './executions_search.ts'
import { RowBadges } from './row_badges.tsx'
import { STATUS_TEXT } from './status_text.ts'

const COLUMNS = ['Time', 'Tool', 'Status', 'Code', 'Caller', 'Surface', 'Duration']

interface ExecutionListProps {
  rows: Execution[]
  /** The filters of the page that a row opens; those of the address without them. */
  filters?: ExecutionsSearch
  openKey: string | undefined
  onOpen: (row: Execution) => void
  hasMore: boolean
  loadMore: () => void
}

/** The rows of the journal. */
export function ExecutionList({ rows, filters, openKey, onOpen, hasMore, loadMore }: ExecutionListProps) {
  return (
    <DataList
      label="Executions"
      columns={COLUMNS}
      rows={rows}
      className={classes.grid}
      rowHeight={45}
      keyOf={(row) => row.id}
      onOpen={onOpen}
      openKey={openKey}
      hasMore={hasMore}
      loadMore={loadMore}
      renderCells={(row) => [
        <Link
          key="time"
          to="/executions"
          search={(all) => ({ ...(filters ?? all), open: row.id, part: undefined })}
          resetScroll={false}
          className={classes.link}
        >
          <TimeText>{row.started_at}</TimeText>
        </Link>,
        <div key="tool" className={classes.tool} title={spellHidden(row.tool_name)}>
          {spellHidden(row.tool_name)} <RowBadges row={row} />
        </div>,
        <StatusBadge key="status" tone={STATUS_TEXT[row.status].tone} hasDot>
          {STATUS_TEXT[row.status].label}
        </StatusBadge>,
        <div key="code" className={classes.muted}>
          {row.code}
        </div>,
        <div key="caller" className={classes.muted}>
          {spellHidden(row.caller)}
        </div>,
        <div key="surface" className={classes.muted}>
          {row.surface}
        </div>,
        <span key="duration" className={classes.number}>
          {formatDuration(row.elapsed_ms)}
        </span>,
      ]}
    />
  )
}
