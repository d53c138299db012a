import { Button } from '@mantine/core'
import { useState } from 'react'
import { formatJson } from '../json/exact_json.ts'
import { ForeignText } from '../text/foreign_text.tsx'
import classes from './difference.module.css'

const SHORT = 80
const FIRST = 400
const MOST = 20_000

/** One side of a difference, as JSON; a long value is cut and can be expanded. */
export function DifferenceValue({ label, value }: { label: string; value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  const line = JSON.stringify(value) ?? 'null'
  const text = line.length > SHORT ? formatJson(value) : line
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <span className={classes.text}>
          <ForeignText isMono limit={isWhole ? MOST : FIRST}>
            {text}
          </ForeignText>
        </span>
        {!isWhole && text.length > FIRST && (
          <Button size="compact-xs" variant="default" ml="xs" onClick={() => setWhole(true)}>
            Show more
          </Button>
        )}
      </dd>
    </>
  )
}
