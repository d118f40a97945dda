import { strToU8 } from 'fflate'
import { describe, expect, it } from 'vitest'
import { openBytes } from '../../src/index.ts'
import { measureFloor } from '../support/measure-floor.ts'
import { catchFault, inspectAndRead } from '../support/read.ts'
import { buildTextRow, buildWorkbook, type WorkbookDraft } from '../support/xlsx.ts'

const header = buildTextRow(1, ['Order', 'Name', 'Note'])
const read = (draft: Partial<WorkbookDraft>) =>
  inspectAndRead(
    openBytes(
      buildWorkbook({ sheets: [{ name: 'x', rows: header + buildTextRow(2, ['1', 'Ann', 'fine']) }], ...draft }),
    ),
  )
const namespace = 'http://schemas.openxmlformats.org/package/2006/relationships'
const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Reads a workbook that refers to a part by this target. */
const readTarget = (target: string, mode = 'Internal') =>
  read({
    parts: {
      'xl/_rels/workbook.xml.rels': strToU8(
        `<Relationships xmlns="${namespace}"><Relationship Id="rId1" Type="${type}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId9" Type="${type}/externalLink" Target="${target}" TargetMode="${mode}"/></Relationships>`,
      ),
    },
  })

describe('a small workbook that is expensive to read', () => {
  it.each([
    ['the sheet', (nested: string) => ({ sheets: [{ name: 'x', rows: header + nested }] })],
    ['the shared strings', (nested: string) => ({ sharedStrings: nested })],
    ['the styles', (nested: string) => ({ parts: { 'xl/styles.xml': strToU8(`<styleSheet>${nested}</styleSheet>`) } })],
  ])('is refused at once with elements nested in each other in %s', async (_, build) => {
    const startedAt = performance.now()
    const fault = await catchFault(read(build('<a>'.repeat(200_000) + '</a>'.repeat(200_000))))
    expect(fault).toMatchObject({ code: 'broken_xlsx', message: /64/ })
    expect(performance.now() - startedAt).toBeLessThan(200 * measureFloor())
  })

  it('is read in little time with very many styles of one difficult number format', async () => {
    const format = `<numFmts><numFmt numFmtId="164" formatCode="${'['.repeat(255)}"/></numFmts>`
    const styles = `<styleSheet>${format}<cellXfs>${'<xf numFmtId="164"/>'.repeat(400_000)}</cellXfs></styleSheet>`
    const startedAt = performance.now()
    expect((await read({ parts: { 'xl/styles.xml': strToU8(styles) } })).rows).toHaveLength(1)
    expect(performance.now() - startedAt).toBeLessThan(400 * measureFloor())
  })

  it('is refused at once with many long and empty sheets', async () => {
    const rows = `<row r="1">${'<c/>'.repeat(5_000_000)}</row>`
    const sheets = Array.from({ length: 3 }, (_, index) => ({ name: `${index}`, rows }))
    const bytes = buildWorkbook({
      sheets: [...sheets, { name: 'last', rows: header + buildTextRow(2, ['1', 'Ann', 'x']) }],
    })
    expect(await catchFault(inspectAndRead(openBytes(bytes)))).toMatchObject({ code: 'empty_file' })
  })
})

describe('a reference of a workbook', () => {
  it.each(['http://[', '%zz.xml', 'worksheets/%E0%A4%A.xml'])(
    'is refused as damage when it leads to %s',
    async (target) => {
      expect(await catchFault(readTarget(target))).toMatchObject({ code: 'broken_xlsx' })
    },
  )

  it('is not followed out of the workbook', async () => {
    expect((await readTarget('http://[', 'External')).rows).toHaveLength(1)
  })
})

describe('a text of a workbook', () => {
  it('loses NUL characters, in cells, shared strings and headers', async () => {
    const sharedStrings = '<si><t>Na_x0000_me</t></si><si><t>A_x0000_nn_x005F_x0000_</t></si>'
    const rows =
      '<row r="1"><c t="s"><v>0</v></c><c t="inlineStr"><is><t>No_x0000_te</t></is></c></row>' +
      '<row r="2"><c t="s"><v>1</v></c><c t="inlineStr"><is><t>fi\0ne</t></is></c></row>'
    const { format, rows: table } = await read({ sharedStrings, sheets: [{ name: 'x', rows }] })
    expect(format.names).toEqual(['Name', 'Note'])
    expect(table.map(({ cells }) => cells)).toEqual([['Ann_x0000_', 'fine']])
  })
})
