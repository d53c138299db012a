import { Text } from '@mantine/core'
import type { Schemas } from '../../../shared/api/client.ts'
import { ForeignText } from '../../../shared/text/foreign_text.tsx'
import { TimeText } from '../../../shared/time/time_text.tsx'
import { Panel } from '../panel.tsx'
import { PanelRow } from '../panel_row.tsx'
import { RowList } from '../row_list.tsx'

/** The processes that write to the journal. */
export function ProcessList({ processes }: { processes: Schemas['ProcessResponse'][] }) {
  return (
    <Panel title="Processes" note="Those that have written to the journal and have not ended, at most 100.">
      {processes.length === 0 ? (
        <Text size="sm" c="dimmed">
          No process has written to the journal yet.
        </Text>
      ) : (
        <RowList
          items={processes}
          renderRow={(each) => (
            <PanelRow
              key={each.number}
              name={<span>Writer {each.number}</span>}
              facts={
                <>
                  <span>
                    Process {each.pid} on <ForeignText isMono>{each.host}</ForeignText>
                  </span>
                  <span>
                    Since <TimeText>{each.started_at}</TimeText>
                  </span>
                </>
              }
            />
          )}
        />
      )}
    </Panel>
  )
}
