import classes from './data_list.module.css'

interface SelectionBoxProps {
  label: string
  isSelected: boolean
  onChange: (isSelected: boolean) => void
}

/** A box that selects a row; a native one, because a list has many. */
export function SelectionBox({ label, isSelected, onChange }: SelectionBoxProps) {
  return (
    <label className={classes.box}>
      <input
        type="checkbox"
        aria-label={label}
        checked={isSelected}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </label>
  )
}
