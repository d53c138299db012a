import { usePreference } from '../storage/preferences.ts'
import { describeTime, formatAge, formatTime, type Zone } from './format_time.ts'

interface TimeTextProps {
  children: string
  isAge?: boolean
}

/** A time in the zone that the person prefers, with UTC in its title. */
export function TimeText({ children, isAge = false }: TimeTextProps) {
  const [zone] = usePreference('time-zone', 'local')
  return (
    <time dateTime={children} title={describeTime(children)}>
      {isAge ? formatAge(children) : formatTime(children, zone as Zone)}
    </time>
  )
}
