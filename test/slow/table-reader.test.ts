import { encodeText } from '@ecms/table-reader'
import { build } from 'esbuild'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../packages/table-reader/test/support/xlsx.ts'
import { root } from '../../scripts/support/paths.ts'
import { type Browser, openBrowser } from '../support/browser.ts'

let browser: Browser
let library: string
beforeAll(async () => {
  browser = await openBrowser()
  const { outputFiles } = await build({
    entryPoints: [join(root, 'packages', 'table-reader', 'src', 'index.ts')],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'tableReader',
    write: false,
  })
  library = outputFiles[0]?.text ?? ''
})
afterAll(() => browser?.stop())

/** Reads a file as a page does that a user gives it to. Returns its names, rows and lines as JSON. */
const readInPage = (bytes: Uint8Array) =>
  browser.evaluate<string>(`(async () => {
    ${library}
    const blob = new Blob([new Uint8Array(${JSON.stringify([...bytes])})])
    const file = { size: blob.size, stream: (offset, length) => blob.slice(offset, offset + length).stream() }
    const format = await tableReader.inspectFile(file)
    const rows = []
    for await (const batch of tableReader.readRows(file, format))
      for (const { line, cells } of batch.rows) rows.push([line, ...cells])
    return JSON.stringify([format.names, ...rows])
  })().catch((error) => String(error.stack))`)

const table = [
  ['Ordre', 'Navn'],
  [2, '1', 'Søren Kjærgård'],
  [3, '2', 'Åse Ørsted'],
]

it('a page reads a CSV file in an old encoding', async () => {
  const text = 'Ordre;Navn\r\n1;Søren Kjærgård\r\n2;"Åse Ørsted"\r\n'
  expect(JSON.parse(await readInPage(encodeText(text, 'cp850')))).toEqual(table)
})

it('a page reads a workbook', async () => {
  const rows =
    buildTextRow(1, ['Ordre', 'Navn']) + buildTextRow(2, ['1', 'Søren Kjærgård']) + buildTextRow(3, ['2', 'Åse Ørsted'])
  expect(JSON.parse(await readInPage(buildWorkbook({ sheets: [{ name: 'a', rows }] })))).toEqual(table)
})

it('a page has all encodings', async () => {
  const wrong = await browser.evaluate<string>(`(() => {
    ${library}
    const { encodings, encodeText, decodeText } = tableReader
    return encodings.filter((name) => decodeText(encodeText('Order;Name', name), name) !== 'Order;Name').join()
  })()`)
  expect(wrong).toBe('')
})
