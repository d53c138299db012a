import { Link } from '@tanstack/react-router'
import classes from './connect_page.module.css'
import type { Way } from './ways.ts'

interface WayListProps {
  className: string | undefined
  ways: Way[]
  open: string | undefined
}

/** The clients, frameworks and requests, as links. */
export function WayList({ className, ways, open }: WayListProps) {
  const groups = [...new Set(ways.map(({ group }) => group))]
  return (
    <nav className={className} aria-label="What connects">
      {groups.map((group) => (
        <div key={group} className={classes.group}>
          <h2 className={classes.heading}>{group}</h2>
          {ways
            .filter((way) => way.group === group)
            .map(({ name, title }) => (
              <Link
                key={name}
                from="/connect"
                to="/connect"
                search={(all) => ({ ...all, way: name, over: undefined })}
                resetScroll={false}
                className={classes.link}
                activeOptions={{ exact: true, explicitUndefined: true }}
                aria-current={name === open ? 'page' : undefined}
              >
                {title}
              </Link>
            ))}
        </div>
      ))}
    </nav>
  )
}
