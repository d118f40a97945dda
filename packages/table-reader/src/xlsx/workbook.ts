import { TableError } from '../faults.ts'
import type { FileSource } from '../source.ts'
import { buildDamageError, openEntry, readEntries, type ZipEntry } from '../zip.ts'
import { detectNumberKind, type NumberKind } from './number-formats.ts'
import { readWholeXml, unescapeText, type XmlHandler } from './xml.ts'

interface NamedSheet {
  sheet: ZipEntry
  sheetName: string
}

export interface Workbook extends NamedSheet {
  /** The visible sheets behind it, or the first of them. None if the user named the sheet. */
  nextSheets: NamedSheet[]
  sheetNames: string[]
  sharedStrings: string[]
  numberKinds: NumberKind[]
  is1904: boolean
}

/** Unpacked bytes of parts that are read whole. Shared strings stay in memory while a sheet is read. */
const maxPartSize = 8_388_608
const maxSharedStrings = 50_331_648

type ZipParts = Map<string, ZipEntry>

/** Names of parts do not distinguish case. */
const findPart = (parts: ZipParts, name: string): ZipEntry | undefined => parts.get(name.toLowerCase())

async function readPart(file: FileSource, part: ZipEntry | undefined, handler: XmlHandler, max = maxPartSize) {
  if (part) await readWholeXml(part.name, openEntry(file, part, max), handler)
}

interface Relation {
  type: string
  target: string
}

function resolveTarget(target: string, folder: string): string {
  try {
    return decodeURIComponent(new URL(target, `file:///${folder}`).pathname.slice(1))
  } catch {
    throw buildDamageError('it refers to a part by an invalid address')
  }
}

/** Targets are paths from the root. */
async function readRelations(file: FileSource, parts: ZipParts, name: string): Promise<Map<string, Relation>> {
  const cut = name.lastIndexOf('/') + 1
  const folder = name.slice(0, cut)
  const relations = new Map<string, Relation>()
  await readPart(file, findPart(parts, `${folder}_rels/${name.slice(cut)}.rels`), {
    open: (tag, { Id = '', Type = '', Target = '', TargetMode = 'Internal' }) => {
      if (tag !== 'Relationship' || TargetMode === 'External') return
      relations.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), target: resolveTarget(Target, folder) })
    },
  })
  return relations
}

/** Excel allows 31 characters. */
const maxSheetNameLength = 100
const maxSheetNames = 50
const maxNextSheets = 4
const summarySheet = 'Export Summary'

interface SheetName {
  name: string
  relation: string
  isVisible: boolean
}

async function readSheetNames(file: FileSource, part: ZipEntry): Promise<{ sheets: SheetName[]; is1904: boolean }> {
  const sheets: SheetName[] = []
  let is1904 = false
  await readPart(file, part, {
    open: (tag, attributes) => {
      if (tag === 'workbookPr') is1904 = ['1', 'true'].includes(attributes['date1904'] ?? '')
      if (tag !== 'sheet') return
      const relation = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? ''
      const isVisible = (attributes['state'] ?? 'visible') === 'visible'
      sheets.push({ name: (attributes['name'] ?? '').slice(0, maxSheetNameLength), relation, isVisible })
    },
  })
  return { sheets, is1904 }
}

async function readNumberKinds(file: FileSource, part: ZipEntry | undefined): Promise<NumberKind[]> {
  const codes = new Map<number, string>()
  const kindsById = new Map<number, NumberKind>()
  const kinds: NumberKind[] = []
  let isInCellFormats = false
  await readPart(file, part, {
    open: (tag, attributes) => {
      if (tag === 'numFmt') codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '')
      if (tag === 'cellXfs') isInCellFormats = true
      if (tag !== 'xf' || !isInCellFormats) return
      const id = Number(attributes['numFmtId'] ?? 0)
      const kind = kindsById.get(id) ?? detectNumberKind(id, codes.get(id))
      kindsById.set(id, kind)
      kinds.push(kind)
    },
    close: (tag) => {
      if (tag === 'cellXfs') isInCellFormats = false
    },
  })
  return kinds
}

async function readSharedStrings(file: FileSource, part: ZipEntry | undefined): Promise<string[]> {
  const strings: string[] = []
  let text = ''
  let isInText = false
  let isPhonetic = false
  const handler: XmlHandler = {
    open: (tag) => {
      if (tag === 'si') text = ''
      if (tag === 'rPh') isPhonetic = true
      isInText = tag === 't' && !isPhonetic
    },
    text: (part_) => {
      if (isInText) text += part_
    },
    close: (tag) => {
      if (tag === 't') isInText = false
      if (tag === 'rPh') isPhonetic = false
      if (tag === 'si') strings.push(unescapeText(text))
    },
  }
  await readPart(file, part, handler, maxSharedStrings)
  return strings
}

function buildNoWorkbookError(parts: ZipParts): TableError {
  const isOpenDocument = parts.has('content.xml') && parts.has('mimetype')
  if (isOpenDocument || parts.has('xl/workbook.bin') || parts.has('word/document.xml'))
    return new TableError('unreadable_file', 'The file is not an .xlsx workbook. Save it as .xlsx or as CSV.')
  return parts.has('[content_types].xml')
    ? buildDamageError('it has no workbook inside')
    : new TableError('unreadable_file', 'The file is an archive, not a workbook. Unpack it first.')
}

const buildUnknownSheetError = (name: string, sheets: readonly string[]): TableError =>
  new TableError('unknown_sheet', `The workbook has no sheet "${name}". Its sheets are: ${sheets.join(', ')}.`)

/** Opens the sheet with the name, which may be hidden, or the first visible one. */
export async function openWorkbook(file: FileSource, name?: string): Promise<Workbook> {
  const parts: ZipParts = new Map((await readEntries(file)).map((entry) => [entry.name.toLowerCase(), entry]))
  const root = Array.from((await readRelations(file, parts, '')).values()).find(({ type }) => type === 'officeDocument')
  const workbookPart = findPart(parts, root?.target ?? 'xl/workbook.xml')
  if (!workbookPart || !workbookPart.name.endsWith('.xml')) throw buildNoWorkbookError(parts)
  const { sheets, is1904 } = await readSheetNames(file, workbookPart)
  const relations = await readRelations(file, parts, workbookPart.name)
  const findTarget = (type: string): ZipEntry | undefined => {
    const relation = Array.from(relations.values()).find((one) => one.type === type)
    const part = relation && findPart(parts, relation.target)
    if (relation && !part) throw buildDamageError(`${relation.target} is missing`)
    return part
  }
  const tables = sheets.filter(({ relation }) => relations.get(relation)?.type === 'worksheet')
  // Numbers of Apple puts a list of its sheets before them.
  const visibleSheets = tables
    .filter(({ isVisible }) => isVisible)
    .toSorted((one, other) => Number(one.name === summarySheet) - Number(other.name === summarySheet))
  const sheetNames = visibleSheets.slice(0, maxSheetNames).map((one) => one.name)
  const namedSheet = tables.find((one) => one.name === name)
  if (!namedSheet && name !== undefined) throw buildUnknownSheetError(name, sheetNames)
  const [first, ...nextSheets] = (name === undefined ? visibleSheets : namedSheet ? [namedSheet] : [])
    .slice(0, maxNextSheets + 1)
    .flatMap((one): NamedSheet[] => {
      const sheet = findPart(parts, relations.get(one.relation)?.target ?? '')
      return sheet ? [{ sheet, sheetName: one.name }] : []
    })
  if (!first) throw buildDamageError('it has no visible sheet')
  return {
    ...first,
    nextSheets,
    sheetNames,
    is1904,
    sharedStrings: await readSharedStrings(file, findTarget('sharedStrings')),
    numberKinds: await readNumberKinds(file, findTarget('styles')),
  }
}
