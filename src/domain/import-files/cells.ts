/** White space at the ends, and marks that nobody sees. */
const edges = /^[\s\u00a0\u200b-\u200f\u2060\ufeff]+|[\s\u00a0\u200b-\u200f\u2060\ufeff]+$/g
const formulaOfText = /^="((?:[^"]|"")*)"$/
/** By which exporters keep a spreadsheet from reading a cell as a number or a formula. */
const apostropheGuard = /^'(?=[=+\-@\d])/

/** How people and programs write that a cell has no value. The word null is a family name. */
const blanks = new Set([
  '-',
  '--',
  '---',
  '–',
  '—',
  './.',
  'n/a',
  '#n/a',
  '#nv',
  'n.a.',
  'k.a.',
  'n.v.t.',
  'b/d',
  'info requested',
  '\\n',
  '(null)',
  '<null>',
  '[null]',
  '#null!',
])

export const isBlank = (text: string): boolean => text === '' || blanks.has(text.toLowerCase())

/** What a cell says: without white space around it, without the guards of exporters; empty for "no value". */
export function cleanCell(cell: string): string {
  const trimmed = cell.replaceAll(edges, '')
  const formula = formulaOfText.exec(trimmed)
  const text = formula ? formula[1]!.replaceAll('""', '"').replaceAll(edges, '') : trimmed.replace(apostropheGuard, '')
  return isBlank(text) ? '' : text
}
