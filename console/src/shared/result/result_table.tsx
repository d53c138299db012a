import { Table, Text } from '@mantine/core'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './result_view.module.css'
import type { ResultTable as TableData } from './table_rows.ts'

/** A result as a table of texts. */
export function ResultTable({ table }: { table: TableData }) {
  const { columns, rows, moreRows, moreColumns } = table
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section className={classes.scroll} tabIndex={0} aria-label="Result as a table">
        <Table className={classes.table} withRowBorders highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column}>
                  <ForeignText isMono={columns[0] !== 'Name'} limit={100}>
                    {column}
                  </ForeignText>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result never move
              <Table.Tr key={index}>
                {row.map((cell, at) => (
                  <Table.Td key={columns[at]}>
                    <ForeignText isMono>{cell}</ForeignText>
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {(moreRows > 0 || moreColumns > 0) && (
        <Text size="sm" mt={6}>
          {moreRows > 0 && `${moreRows.toLocaleString('en')} more rows. `}
          {moreColumns > 0 && `${moreColumns.toLocaleString('en')} more columns. `}
          JSON has all of them.
        </Text>
      )}
    </>
  )
}
