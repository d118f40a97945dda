import { TableError } from '../faults.ts'
import { buildDamageError, type ZipEntry } from '../zip.ts'

const tableName = /\.(?:csv|tsv)$/i
/** Notes and the files that systems add. */
const ignoredName = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|read[ _-]?me(?:\.(?:txt|md))?)$/i
const isFolder = (name: string): boolean => name.endsWith('/')
/** A name is only shown, so it may not look like another one. */
const unusualName = /[\p{Cc}\p{Cf}]|(?:^|\/)\.\.(?:\/|$)/u
const maxNameLength = 255

type EntryKind = 'table' | 'ignored' | 'folder' | 'other'

function getEntryKind(name: string): EntryKind {
  if (name.length > maxNameLength || unusualName.test(name)) return 'other'
  if (isFolder(name)) return 'folder'
  if (ignoredName.test(name)) return 'ignored'
  return tableName.test(name) ? 'table' : 'other'
}

const isPackagePart = (name: string): boolean => /^(?:\[Content_Types\]\.xml$|xl\/|META-INF\/)/i.test(name)

/** True if the entries of an archive are CSV files and not the parts of a workbook. There may be others beside them. */
export const isArchiveOfTables = (names: readonly string[]): boolean =>
  names.some((name) => getEntryKind(name) === 'table') && !names.some(isPackagePart)

/** Returns the first entry that keeps an archive from being read as a table, or undefined. */
export const findForeignEntry = (names: readonly string[]): string | undefined =>
  names.find((name) => getEntryKind(name) === 'other')

const quoteName = (name: string): string => `"${name.slice(0, 100).replaceAll(/[\p{Cc}\p{Cf}]/gu, '?')}"`

/** Each file is looked at several times before the first row is read. */
const maxFiles = 20
const maxEntries = 100
/** The files together may unpack to this size. A short archive may only if its files are not packed very densely. */
const maxSize = 629_145_600
const shortSize = 33_554_432
const maxRatio = 100

function checkEntries(entries: readonly ZipEntry[], archiveSize: number): void {
  const names = entries.map(({ name }) => name)
  const foreignName = findForeignEntry(names) ?? entries.find(({ name, size }) => isFolder(name) && size > 0)?.name
  if (foreignName !== undefined)
    throw new TableError(
      'unreadable_file',
      `The archive contains ${quoteName(foreignName)}, which is no CSV file. Remove it from the archive.`,
    )
  const lowerNames = names.map((name) => name.toLowerCase())
  const repeatedName = names.find((_, index) => lowerNames.indexOf(lowerNames[index]!) < index)
  if (repeatedName !== undefined) throw buildDamageError(`it contains ${quoteName(repeatedName)} twice`)
  const size = entries.reduce((sum, entry) => sum + (getEntryKind(entry.name) === 'table' ? entry.size : 0), 0)
  if (size > maxSize || size > shortSize + maxRatio * archiveSize)
    throw new TableError(
      'broken_xlsx',
      `The files of the archive have ${size} bytes once they are unpacked, which is too much. Upload them one by one.`,
    )
}

/** Divides the entries of an archive into tables and others. Refuses an archive with anything unexpected in it. */
export function sortEntries(
  entries: readonly ZipEntry[],
  archiveSize: number,
): { tables: ZipEntry[]; ignoredNames: string[] } {
  const tables = entries.filter(({ name }) => getEntryKind(name) === 'table')
  if (tables.length > maxFiles || entries.length > maxEntries)
    throw new TableError(
      'unreadable_file',
      `The archive contains ${entries.length} files. At most ${maxFiles} CSV files and ${maxEntries} files in all can be read as one table.`,
    )
  checkEntries(entries, archiveSize)
  const ignoredNames = entries.filter(({ name }) => getEntryKind(name) === 'ignored').map(({ name }) => name)
  return { tables, ignoredNames }
}
