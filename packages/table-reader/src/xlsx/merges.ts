import { maxColumns, TableError } from '../faults.ts'
import type { FileSource } from '../source.ts'
import { openEntry, type ZipEntry } from '../zip.ts'
import { checkRowLength, maxRowNumber, maxSheetSize, parseColumn, type SheetRow } from './sheet.ts'
import { chooseDecoder } from './xml.ts'

/** A cell that is merged over the rows below it. */
interface Merge {
  top: number
  bottom: number
  /** From 0. */
  column: number
}

const maxMerges = 100_000
const endOfRows = /<\/(?:[\w-]+:)?sheetData>/
const mergeTag = /<(?:[\w-]+:)?mergeCell\s[^<>]*>/g
const range = /\bref\s*=\s*["']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})["']/
/** A tag is not longer, so one that two chunks share is found in this much text before the border. */
const longestTag = 1000

function parseMerge(tag: string): Merge | null {
  const [, from = '', fromRow, to = '', toRow] = range.exec(tag) ?? []
  const [top, bottom] = [Math.min(Number(fromRow), Number(toRow)), Math.max(Number(fromRow), Number(toRow))]
  const column = Math.min(parseColumn(from), parseColumn(to)) - 1
  return top < bottom && top >= 1 && bottom <= maxRowNumber && column < maxColumns ? { top, bottom, column } : null
}

/**
 * Reads the cells of a sheet that are merged over several rows, by their first row. They stand behind the rows, so the
 * sheet is passed through once more. This only searches its text, which is much faster than parsing it.
 */
async function readMerges(file: FileSource, sheet: ZipEntry): Promise<Map<number, Merge[]>> {
  const merges: Merge[] = []
  let decoder: TextDecoder | undefined
  let isBehindRows = false
  let text = ''
  for await (const chunk of openEntry(file, sheet, maxSheetSize)) {
    decoder ??= chooseDecoder(chunk)
    text += decoder.decode(chunk, { stream: true })
    const end: RegExpExecArray | null = isBehindRows ? null : endOfRows.exec(text)
    if (end) text = text.slice(end.index)
    isBehindRows ||= end !== null
    let searchedLength = Math.max(0, text.length - longestTag)
    if (isBehindRows)
      for (const { 0: tag, index } of text.matchAll(mergeTag)) {
        searchedLength = Math.max(searchedLength, index + tag.length)
        const merge = parseMerge(tag)
        if (merge) merges.push(merge)
      }
    if (merges.length > maxMerges)
      throw new TableError(
        'too_many_merged_cells',
        `More than ${maxMerges} cells of the sheet are merged over several rows. Unmerge them, or save it as CSV.`,
      )
    text = text.slice(searchedLength)
  }
  return Map.groupBy(merges, ({ top }) => top)
}

export interface FilledRow extends SheetRow {
  /** Columns, from 0, whose cells were blank and took the value of a merged cell. */
  filledColumns: number[]
}

/**
 * Gives the value of a merged cell to the rows below it, in its first column. The header keeps its cells to itself, and
 * an empty row stays empty.
 */
export async function createMergeFiller(
  file: FileSource,
  sheet: ZipEntry,
  bodyRow: number,
): Promise<(row: SheetRow) => FilledRow> {
  const merges = await readMerges(file, sheet)
  const currentMerges = new Map<number, { bottom: number; value: string }>()
  return (row) => {
    const cells = [...row.cells]
    const filledColumns: number[] = []
    let length = cells.reduce((sum, cell) => sum + cell.length, 0)
    for (const [column, { bottom, value }] of currentMerges) {
      if (bottom < row.number) currentMerges.delete(column)
      else if (row.cells.length > 0 && (cells[column] ?? '') === '') {
        while (cells.length < column) cells.push('')
        cells[column] = value
        filledColumns.push(column)
        length += value.length
        checkRowLength(length, { line: row.number, column: column + 1 })
      }
    }
    for (const { column, bottom } of merges.get(row.number) ?? []) {
      const value = cells[column] ?? ''
      if (value !== '' && row.number >= bodyRow) currentMerges.set(column, { bottom, value })
    }
    return { ...row, cells, filledColumns }
  }
}
