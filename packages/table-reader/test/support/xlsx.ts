import { strToU8, zipSync, type Zippable } from 'fflate'

interface SheetDraft {
  name: string
  /** The rows between <sheetData> and its end. */
  rows: string
  state?: 'visible' | 'hidden' | 'veryHidden'
  /** The XML after the rows. */
  after?: string
}

export interface WorkbookDraft {
  sheets: SheetDraft[]
  /** The <si> elements, or none. */
  sharedStrings?: string
  /** Number formats with their ids from 164, and one style for each format: an id or one of these formats. */
  formats?: (number | string)[]
  is1904?: boolean
  /** A prefix for every element name, such as `x:`. */
  prefix?: string
  /** Parts to add or to replace. */
  parts?: Zippable
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const namespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function writeStyles(formats: (number | string)[]): string {
  const ownFormats = formats.filter((format) => typeof format === 'string')
  const findFormatId = (format: number | string): number =>
    typeof format === 'number' ? format : 164 + ownFormats.indexOf(format)
  const codes = ownFormats.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${escaped(code)}"/>`)
  const styles = formats.map((format) => `<xf numFmtId="${findFormatId(format)}" fontId="0" applyNumberFormat="1"/>`)
  return (
    `${head}<styleSheet xmlns="${namespace}"><numFmts count="${codes.length}">${codes.join('')}</numFmts>` +
    // The formats of named styles are not those of cells.
    `<cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`
  )
}

function prefixed(xml: string, prefix: string): string {
  return xml.replaceAll(/<(\/?)(?=[A-Za-z])/g, `<$1${prefix}`).replace(' xmlns="', ` xmlns:${prefix.slice(0, -1)}="`)
}

function workbookXml({ sheets, is1904 }: WorkbookDraft): string {
  const names = sheets.map(
    ({ name, state = 'visible' }, index) =>
      `<sheet name="${escaped(name)}" sheetId="${index + 1}" state="${state}" r:id="rId${index + 1}"/>`,
  )
  return `${head}<workbook xmlns="${namespace}" xmlns:r="${relations}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${names.join('')}</sheets></workbook>`
}

const relationXml = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`

const relationsXml = (all: string[]): string =>
  `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join('')}</Relationships>`

/** Builds a workbook as spreadsheet programs write it. */
export function buildWorkbook(draft: WorkbookDraft): Uint8Array {
  const write = (xml: string): Uint8Array => strToU8(draft.prefix ? prefixed(xml, draft.prefix) : xml)
  const parts: Zippable = {
    '[Content_Types].xml': strToU8(
      `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    ),
    '_rels/.rels': strToU8(relationsXml([relationXml('rId1', 'officeDocument', 'xl/workbook.xml')])),
    'xl/workbook.xml': write(workbookXml(draft)),
    'xl/_rels/workbook.xml.rels': strToU8(
      relationsXml([
        ...draft.sheets.map((_, index) =>
          relationXml(`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`),
        ),
        relationXml('rIdStyles', 'styles', '/xl/styles.xml'),
        relationXml('rIdStrings', 'sharedStrings', 'sharedStrings.xml'),
      ]),
    ),
    'xl/styles.xml': write(writeStyles(draft.formats ?? [0])),
    'xl/sharedStrings.xml': write(`${head}<sst xmlns="${namespace}">${draft.sharedStrings ?? ''}</sst>`),
  }
  for (const [index, { rows, after = '' }] of draft.sheets.entries())
    parts[`xl/worksheets/sheet${index + 1}.xml`] = write(
      `${head}<worksheet xmlns="${namespace}"><dimension ref="A1"/><sheetData>${rows}</sheetData>${after}</worksheet>`,
    )
  return zipSync({ ...parts, ...draft.parts })
}

/** Builds a row of texts, written into its cells. */
export const buildTextRow = (number: number, cells: string[]): string =>
  `<row r="${number}">${cells
    .map((cell, index) =>
      cell === ''
        ? ''
        : `<c r="${String.fromCharCode(65 + index)}${number}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`,
    )
    .join('')}</row>`
