import { stripVTControlCharacters } from 'node:util'

type Row = Readonly<Record<string, unknown>>

export interface Output {
  /** True if a person reads the output, and false for a pipe and with `--json`. */
  isTable: boolean
  /** Prints one object. */
  object: (value: unknown) => void
  /** Prints a list, with these columns on a terminal. */
  rows: (rows: readonly Row[], columns?: readonly string[]) => void
  /** Tells a person what happens. Goes to stderr, so that data stay alone on stdout. */
  note: (text: string) => void
  /** Shows what takes longer than two seconds, until it is stopped. Nothing in a pipe. */
  progress: (text: string) => { update: (text: string) => void; stop: () => void }
}

const progressAfterMs = 2000
const progressEveryMs = 200

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
// oxlint-disable-next-line no-control-regex
const controlsWithinLines = /(?![\t\n])[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g

/** Texts of customers must not move the cursor, change colours, or turn the direction of what stands beside them. */
export const cleanText = (text: string): string => stripVTControlCharacters(text).replaceAll(controls, ' ')

/** Opens stdout for the bytes of a file. A terminal gets their text without control characters. */
export function openByteOutput(): (bytes: Uint8Array) => Promise<void> {
  const { stdout } = process
  const decoder = new TextDecoder()
  const show = (bytes: Uint8Array): string =>
    decoder.decode(bytes, { stream: true }).replaceAll(controlsWithinLines, ' ')
  return async (bytes) => {
    if (!stdout.write(stdout.isTTY ? show(bytes) : bytes)) await new Promise((resolve) => stdout.once('drain', resolve))
  }
}

const escapeCharacter = (character: string): string =>
  String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Formats a value as JSON that a terminal can show: it escapes also the control characters that JSON allows. */
export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(controlsWithinLines, escapeCharacter)

export const cleanLines = (text: string): string => text.split('\n').map(cleanText).join('\n')

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') {
    const { name, full_name, id } = value as Row
    const label = name ?? full_name ?? id
    return cleanText(typeof label === 'string' ? label : toJson(value))
  }
  return cleanText(typeof value === 'string' ? value : JSON.stringify(value))
}

const width = (text: string): number => [...text].length

const maxCellWidth = 40

const cut = (text: string): string =>
  width(text) > maxCellWidth ? `${[...text].slice(0, maxCellWidth - 1).join('')}…` : text

/** Lays out rows as columns of text. */
function formatTable(rows: readonly Row[], columns: readonly string[]): string {
  const cells = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => cut(formatCell(row[name])))),
  ]
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => width(line[index] ?? ''))))
  return cells
    .map((line) =>
      line
        .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - width(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const formatObject = (value: Row): string => {
  const names = Object.keys(value)
  const longest = Math.max(0, ...names.map(width))
  return names.map((name) => `${name.padEnd(longest)}  ${formatCell(value[name])}`).join('\n')
}

/** The columns of a list of unknown items: the first ones that a line has room for. */
function chooseColumns([first = {}]: readonly Row[]): string[] {
  const simple = Object.entries(first).filter(
    ([, value]) => typeof value !== 'object' || value === null || 'id' in value,
  )
  return simple.map(([name]) => name).slice(0, 7)
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

export function createOutput({ json }: { json: boolean }): Output {
  const isTable = process.stdout.isTTY && !json
  let hideProgress = () => {}
  const print = (text: string) => {
    hideProgress()
    process.stdout.write(`${text}\n`)
  }
  return {
    isTable,
    object: (value) => print(isTable && isRow(value) ? formatObject(value) : toJson(value, 2)),
    rows: (rows, columns) => print(isTable ? formatTable(rows, columns ?? chooseColumns(rows)) : toJson(rows, 2)),
    note: (text) => {
      hideProgress()
      process.stderr.write(`${cleanLines(text)}\n`)
    },
    progress: (text) => {
      const progress = showProgress(text)
      hideProgress = progress.hide
      return progress
    },
  }
}

function showProgress(first: string) {
  let text = first
  let isShown = false
  if (!process.stderr.isTTY) return { update: () => undefined, hide: () => undefined, stop: () => undefined }
  const started = Date.now()
  const draw = () => {
    if (Date.now() - started < progressAfterMs) return
    isShown = true
    process.stderr.write(`\r\u001b[K${cleanText(text)} (${Math.floor((Date.now() - started) / 1000)} s)`)
  }
  const hide = () => {
    if (isShown) process.stderr.write('\r\u001b[K')
    isShown = false
  }
  const timer = setInterval(draw, progressEveryMs)
  const stop = () => {
    clearInterval(timer)
    hide()
  }
  return { update: (next: string) => void (text = next), hide, stop }
}
