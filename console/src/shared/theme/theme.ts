import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

const TEAL: MantineColorsTuple = [
  '#e3fafc',
  '#c5f0f5',
  '#99e2eb',
  '#66cfdc',
  '#3bb8c9',
  '#1d9bb0',
  '#0f8398',
  '#0b6f82',
  '#095d6d',
  '#074b58',
]

/** Cooler than Mantine's own, so that fields, menus and the page belong together. */
const DARK: MantineColorsTuple = [
  '#dfe4e8',
  '#b4bcc4',
  '#8f99a3',
  '#5d6872',
  '#3a434c',
  '#2c343b',
  '#1f252b',
  '#15191d',
  '#111519',
  '#0c0f12',
]

export const theme = createTheme({
  primaryColor: 'board',
  primaryShade: { light: 7, dark: 5 },
  colors: { board: TEAL, dark: DARK },
  autoContrast: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", "Liberation Mono", monospace',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: {
    sizes: { h1: { fontSize: '1.375rem', lineHeight: '1.3' }, h2: { fontSize: '1.0625rem', lineHeight: '1.4' } },
  },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 'lg' } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
  },
})

/** Colours with enough contrast for text (4.5 to 1) in both schemes; Mantine's dimmed text has less. */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#545c64',
    '--mantine-color-placeholder': '#697179',
    '--mantine-color-body': '#ffffff',
    '--board-surface': '#f6f8f9',
    '--board-border': '#dfe4e8',
    '--board-hover': '#eef3f5',
    '--board-good': '#1d7a3e',
    '--board-bad': '#c22525',
    '--board-warn': '#8a5700',
    '--board-idle': '#5c6770',
    '--board-chart-good': '#2f9e5b',
    '--board-chart-bad': '#e03131',
    '--board-chart-warn': '#e8900c',
    '--board-chart-idle': '#7a8691',
    '--board-good-fill': '#e4f5ea',
    '--board-bad-fill': '#fdeaea',
    '--board-warn-fill': '#fdf1dc',
    '--board-idle-fill': '#eceff2',
    '--board-link': '#0b6f82',
  },
  dark: {
    '--mantine-color-dimmed': '#a8b0b8',
    '--mantine-color-placeholder': '#949ca5',
    '--mantine-color-body': '#15191d',
    '--mantine-color-text': '#dfe4e8',
    '--board-surface': '#1b2025',
    '--board-border': '#303840',
    '--board-hover': '#232a30',
    '--board-good': '#69d391',
    '--board-bad': '#ff8f8f',
    '--board-warn': '#f5bd62',
    '--board-idle': '#aeb7c0',
    '--board-chart-good': '#3fae6c',
    '--board-chart-bad': '#f05252',
    '--board-chart-warn': '#e5a13a',
    '--board-chart-idle': '#8c98a3',
    '--board-good-fill': '#18352299',
    '--board-bad-fill': '#48202299',
    '--board-warn-fill': '#43320f99',
    '--board-idle-fill': '#2a3138',
    '--board-link': '#5ac5d6',
  },
})
