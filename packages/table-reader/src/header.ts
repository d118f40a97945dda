import { cleanCell } from './cells.ts'
import { findCommonWidth, measureFilledWidth } from './dialect.ts'
import { maxColumns, TableError } from './faults.ts'

export interface Header {
  /** Two names may be the same, and one may be empty. */
  names: string[]
  /** The record of the file, from 0; -1 for a file without a header. */
  index: number
}

interface LineCells {
  cells: readonly string[]
  line: number
}

/** The header is searched for in this many rows. */
const searchedRows = 40
const comparedRows = 20

const email = /^[^\s@]+@[^\s@][^\s@.]*\.[^\s@]+$/
const date = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([T ,].*)?$/
const time = /^\d{1,2}[:.]\d{2}(:\d{2})?$/
const amount = /^(\p{Sc}|[A-Za-z]{2,3}\.?)?\s*-?\d[\d.,'\s]*(,-|\p{Sc}|[A-Za-z]{2,3}\.?)?$/u
const phone = /^\+?\d[\d\s()/-]{5,}$/
const link = /^https?:\/\//i

const looksLikeData = (cell: string): boolean =>
  [email, date, time, amount, phone, link].some((pattern) => pattern.test(cell))

const listFilledCells = (cells: readonly string[]): string[] => cells.map(cleanCell).filter((cell) => cell !== '')

/** A year or a number may name a column, as long as most names are words. */
const looksLikeNames = (cells: readonly string[]): boolean => {
  const filledCells = listFilledCells(cells)
  if (filledCells.some((cell) => email.test(cell) || (date.test(cell) && cell.length > 5) || link.test(cell)))
    return false
  return filledCells.filter(looksLikeData).length * 4 < filledCells.length
}

function isFilled(cells: readonly string[], width: number, share: number): boolean {
  return cells.filter((cell) => cell.trim() !== '').length >= Math.max(1, Math.ceil(width * share))
}

/** Takes the first row that is as wide as the table and looks like names, unless a full row of data precedes it. */
function findHeaderIndex(rows: readonly LineCells[], width: number): number | null {
  for (const [index, { cells }] of rows.slice(0, searchedRows).entries()) {
    if (isFilled(cells, width, 0.6) && looksLikeNames(cells)) return index
    if (isFilled(cells, width, 0.8)) return null
  }
  return null
}

function measureWidth(rows: readonly LineCells[]): number {
  const widths = rows.map(({ cells }) => measureFilledWidth(cells)).filter((width) => width > 0)
  return Math.max(1, findCommonWidth(widths.slice(0, searchedRows + comparedRows)))
}

function checkWidth(width: number, line: number): number {
  if (width > maxColumns)
    throw new TableError('too_many_columns', `The table has ${width} columns. At most ${maxColumns} are possible.`, {
      line,
      column: maxColumns + 1,
    })
  return width
}

/** Keeps unnamed columns at the end if most rows have cells there. */
function readNames(header: LineCells, below: readonly LineCells[]): string[] {
  const namedWidth = measureFilledWidth(header.cells)
  const widerWidths = below.map(({ cells }) => measureFilledWidth(cells)).filter((width) => width > namedWidth)
  const commonWidth = widerWidths.length * 2 > below.length ? findCommonWidth(widerWidths) : namedWidth
  // Wider rows are broken: a comma as the delimiter cuts their amounts in two.
  const width = Math.max(namedWidth, Math.min(commonWidth, header.cells.length))
  return Array.from({ length: checkWidth(width, header.line) }, (_, index) => cleanCell(header.cells[index] ?? ''))
}

/** @param hasHeader the setting of the caller, or null to detect it */
export function findHeader(rows: readonly LineCells[], hasHeader: boolean | null): Header {
  const filledRows = rows.filter(({ cells }) => measureFilledWidth(cells) > 0)
  const first = filledRows[0]
  if (!first) throw new TableError('empty_file', 'The file has no rows.')
  const width = measureWidth(rows)
  checkWidth(width, first.line)
  if (hasHeader === false) {
    const widest = checkWidth(Math.max(...rows.map(({ cells }) => measureFilledWidth(cells))), first.line)
    return { names: Array.from({ length: widest }, () => ''), index: -1 }
  }
  const index = findHeaderIndex(rows, width) ?? (hasHeader === true ? rows.indexOf(first) : null)
  if (index === null)
    throw new TableError('no_header', `The file has no header: row ${first.line} already contains data.`, {
      line: first.line,
      column: 1,
    })
  const below = rows.slice(index + 1, index + 1 + comparedRows).filter(({ cells }) => measureFilledWidth(cells) > 0)
  return { names: readNames(rows[index]!, below), index }
}
