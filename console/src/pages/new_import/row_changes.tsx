import { CloseButton, Group, Title } from '@mantine/core'
import { useMemo } from 'react'
import { compareValues } from '../../shared/difference/compare_values.ts'
import { DifferenceList } from '../../shared/difference/difference_list.tsx'
import { ForeignText } from '../../shared/text/foreign_text.tsx'
import { splitSides } from '../imports/changes.ts'
import classes from './new_import_page.module.css'
import type { ReportRow } from './report_rows.ts'

/** The fields of a changed tool, before and after the import. */
export function RowChanges({ row, onClose }: { row: ReportRow; onClose: () => void }) {
  const { differences, isCut } = useMemo(() => {
    const { before, after } = splitSides(row.fields ?? {})
    return compareValues(before, after)
  }, [row])
  return (
    <section className={classes.changes} aria-label="Changed fields">
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Title order={3} size="h5">
          <ForeignText isMono limit={120}>
            {row.name}
          </ForeignText>
        </Title>
        <CloseButton aria-label="Close" onClick={onClose} />
      </Group>
      <DifferenceList differences={differences} isCut={isCut} />
    </section>
  )
}
