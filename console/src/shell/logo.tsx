/** The mark of Pegboard. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#0b7285" />
      <g fill="#fff">
        <circle cx="10" cy="10" r="3" />
        <circle cx="22" cy="10" r="3" opacity=".55" />
        <circle cx="10" cy="22" r="3" opacity=".55" />
        <circle cx="22" cy="22" r="3" />
      </g>
    </svg>
  )
}
