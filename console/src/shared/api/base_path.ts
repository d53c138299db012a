/** The path of the console, such as `/console/`, also behind a proxy with a path prefix: assets are in a folder of it. */
export const CONSOLE_PATH = import.meta.env.DEV
  ? '/console/'
  : new URL(/* @vite-ignore */ '../', import.meta.url).pathname

/** The path of the board: empty, or the prefix of a proxy without a slash at its end. */
export const BOARD_PATH = CONSOLE_PATH.replace(/\/console\/$/, '')

/** The address of the board, for commands that people copy. */
export function boardAddress(): string {
  return `${window.location.origin}${BOARD_PATH}`
}
