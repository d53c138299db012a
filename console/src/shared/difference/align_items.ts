/** One item of two sequences: where it is in each; undefined where it is not. */
export interface AlignedItem {
  before: number | undefined
  after: number | undefined
}

// The cells of the table of common subsequences; above, what lies between the common ends counts as replaced.
const MOST_CELLS = 1_000_000

/** Return the items of two sequences in order; the longest common subsequence is in both. */
export function alignItems(before: readonly string[], after: readonly string[]): AlignedItem[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  const aligned: AlignedItem[] = []
  for (let place = 0; place < start; place += 1) aligned.push({ before: place, after: place })
  aligned.push(
    ...alignMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)).map((item) => ({
      before: item.before === undefined ? undefined : item.before + start,
      after: item.after === undefined ? undefined : item.after + start,
    })),
  )
  for (let place = end; place > 0; place -= 1) {
    aligned.push({ before: before.length - place, after: after.length - place })
  }
  return aligned
}

function alignMiddle(before: readonly string[], after: readonly string[]): AlignedItem[] {
  const [rows, columns] = [before.length, after.length]
  if ((rows + 1) * (columns + 1) > MOST_CELLS) {
    return [
      ...before.map((_item, place) => ({ before: place, after: undefined })),
      ...after.map((_item, place) => ({ before: undefined, after: place })),
    ]
  }
  // The length of the longest common subsequence of what follows each pair of places.
  const width = columns + 1
  const lengths = new Uint32Array((rows + 1) * width)
  const length = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        before[row] === after[column]
          ? length(row + 1, column + 1) + 1
          : Math.max(length(row + 1, column), length(row, column + 1))
    }
  }
  const aligned: AlignedItem[] = []
  let [row, column] = [0, 0]
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      aligned.push({ before: row++, after: column++ })
    } else if (column >= columns || (row < rows && length(row + 1, column) >= length(row, column + 1))) {
      aligned.push({ before: row++, after: undefined })
    } else {
      aligned.push({ before: undefined, after: column++ })
    }
  }
  return aligned
}
