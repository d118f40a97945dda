export type Cell = string | number | null

const formulaStart = /^[=+\-@\t\r]/
/** A telephone number begins with a plus, and is no formula. */
const phoneNumber = /^\+[0-9 ]{6,20}$/

function cellOf(cell: Cell): string {
  if (cell === null) return ''
  const text = String(cell)
  const safe = formulaStart.test(text) && !phoneNumber.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** One record as RFC 4180 writes it; what a spreadsheet would run as a formula begins with an apostrophe. */
export const formatCsvRecord = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\r\n`

/** The byte order mark, by which spreadsheets detect UTF-8. */
export const byteOrderMark = '\u{FEFF}'
