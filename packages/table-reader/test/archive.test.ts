import * as fc from 'fast-check'
import { strToU8, Zip, ZipDeflate, zipSync, type Zippable } from 'fflate'
import { describe, expect, it } from 'vitest'
import {
  type ArchiveFormat,
  encodeText,
  findArchivePlace,
  inspectFile,
  openBytes,
  readRows,
  type TableRow,
} from '../src/index.ts'
import { catchFault, inspectAndRead } from './support/read.ts'
import { buildTextRow, buildWorkbook } from './support/xlsx.ts'

type Files = Record<string, string | Uint8Array>

const toParts = (files: Files): Zippable =>
  Object.fromEntries(
    Object.entries(files).map(([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content]),
  )

const openArchive = (files: Files) => openBytes(zipSync(toParts(files)), 700)

const members = {
  'subscribed.csv': 'Email,Name,LEID\n\na@example.test,Ane,1\nb@example.test,Bo,2\n',
  'unsubscribed.csv': 'Email;Name;UNSUB_TIME;LEID\r\nc@example.test;Cai;2024-06-01;3\r\n',
  'cleaned.csv': 'Email,Name,CLEAN_TIME,LEID\nd@example.test,"Dan\nBerg",2024-07-01,4\n',
}

const showRows = (rows: readonly TableRow[]) => rows.map(({ line, cells }) => [line, ...cells])

/** Changes each entry of the directory, which is what readers trust. */
function changeDirectory(bytes: Uint8Array, change: (view: DataView, at: number) => void): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at + 46 <= bytes.length; at++) if (view.getUint32(at, true) === 0x02014b50) change(view, at)
  return bytes
}

/** Writes an archive in one pass, so that the sizes of each entry stand behind its data. */
function streamArchive(files: Files): Uint8Array {
  const chunks: number[] = []
  const zip = new Zip((_, chunk) => chunks.push(...chunk))
  for (const [name, content] of Object.entries(toParts(files))) {
    const entry = new ZipDeflate(name)
    zip.add(entry)
    entry.push(content as Uint8Array, true)
  }
  zip.end()
  return Uint8Array.from(chunks)
}

describe('an archive of CSV files', () => {
  it('is one table with the columns of all files, and says the file of each line', async () => {
    const { format, rows } = await inspectAndRead(openArchive(members))
    expect(format).toMatchObject({
      kind: 'archive',
      names: ['Email', 'Name', 'LEID', 'UNSUB_TIME', 'CLEAN_TIME'],
      header: { line: 1 },
      ignoredNames: [],
    })
    expect(showRows(rows)).toEqual([
      [3, 'a@example.test', 'Ane', '1'],
      [4, 'b@example.test', 'Bo', '2'],
      [6, 'c@example.test', 'Cai', '3', '2024-06-01'],
      [8, 'd@example.test', 'Dan\nBerg', '4', '', '2024-07-01'],
    ])
    const places = rows.map(({ line }) => findArchivePlace(format as ArchiveFormat, line))
    expect(places.map(({ name, line }) => `${name}:${line}`)).toEqual([
      'subscribed.csv:3',
      'subscribed.csv:4',
      'unsubscribed.csv:2',
      'cleaned.csv:2',
    ])
  })

  it('is read when the sizes stand behind the data, when nothing is packed, and with sizes of 64 bits', async () => {
    const expected = showRows((await inspectAndRead(openArchive(members))).rows)
    expect(showRows((await inspectAndRead(openBytes(streamArchive(members)))).rows)).toEqual(expected)
    const stored = zipSync(toParts(members), { level: 0 })
    expect(showRows((await inspectAndRead(openBytes(stored))).rows)).toEqual(expected)
    const content = strToU8('Email,Name\na@example.test,Ane\n')
    const sizes = new Uint8Array(24)
    const view = new DataView(sizes.buffer)
    view.setBigUint64(0, BigInt(content.length), true)
    view.setBigUint64(8, BigInt(content.length), true)
    const wide = changeDirectory(
      zipSync({ 'a.csv': [content, { level: 0, extra: { 1: sizes } }] }),
      (directory, at) => {
        for (const field of [20, 24, 42]) directory.setUint32(at + field, 0xffffffff, true)
      },
    )
    expect(showRows((await inspectAndRead(openBytes(wide))).rows)).toEqual([[2, 'a@example.test', 'Ane']])
  })

  it('has each file in its own encoding and delimiter, and keeps equal names of one file apart', async () => {
    const { format, rows } = await inspectAndRead(
      openArchive({
        'a.csv': encodeText('Navn;Note;Note\r\nSøren;1;2\r\nÅse;3;4\r\n', 'windows-1252'),
        'b.tsv': encodeText('Note\tNavn\r\n5\tBjørn\r\n6\tÆgir\r\n', 'utf-16le'),
      }),
    )
    expect(format.names).toEqual(['Navn', 'Note', 'Note'])
    expect(showRows(rows)).toEqual([
      [2, 'Søren', '1', '2'],
      [3, 'Åse', '3', '4'],
      [5, 'Bjørn', '5'],
      [6, 'Ægir', '6'],
    ])
  })

  it('names the entries that are no tables, and those without a row', async () => {
    const { format, rows } = await inspectAndRead(
      openArchive({
        'list/': '',
        'list/.DS_Store': 'x',
        'list/subscribed.csv': members['subscribed.csv'],
        '__MACOSX/list/._subscribed.csv': '\0\u0005\u0016\u0007',
        'README.txt': 'Three files',
        'none.csv': '',
        'headless.csv': 'Email,Name,LEID\n',
      }),
    )
    expect((format as ArchiveFormat).ignoredNames).toEqual([
      'list/.DS_Store',
      '__MACOSX/list/._subscribed.csv',
      'README.txt',
      'none.csv',
    ])
    expect(rows).toHaveLength(2)
  })

  it('has the kinds and faults of rows that its files have, with the columns of the table', async () => {
    const { rows } = await inspectAndRead(
      openArchive({
        'a.csv': 'Email,Name,LEID\na@example.test,Ane,1\n\nExported by Mailchimp,,\n',
        'b.csv': 'LEID,City,Email\n2,Ribe,b@example.test,extra\nLEID,City,Email\n3,"Vejle,c@example.test\n',
      }),
    )
    expect(rows.map(({ line, kind, fault, cells }) => ({ line, kind, fault, cells }))).toEqual([
      { line: 2, kind: 'data', fault: null, cells: ['a@example.test', 'Ane', '1'] },
      { line: 4, kind: 'note', fault: null, cells: ['Exported by Mailchimp'] },
      {
        line: 6,
        kind: 'data',
        fault: { code: 'too_many_cells', column: 5 },
        cells: ['b@example.test', '', '2', 'Ribe', 'extra'],
      },
      { line: 7, kind: 'header', fault: null, cells: ['Email', '', 'LEID', 'City'] },
      {
        line: 8,
        kind: 'data',
        fault: { code: 'open_quote', column: 4 },
        cells: ['c@example.test', '', '3', '"Vejle'],
      },
    ])
  })

  it('goes on from the position of any batch as if it had been read at once', async () => {
    const cell = fc.constantFrom('a', 'ø', '', 'x@example.test', '"two\nlines"', 'Total')
    const line = fc.oneof(
      fc.constant(''),
      fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(',')),
    )
    const file = fc
      .tuple(
        fc.constantFrom('Email,Name,City', 'Name,Email,LEID', 'Email,Time,Time'),
        fc.array(line, { maxLength: 12 }),
      )
      .map(([header, lines]) => [header, ...lines].join('\n'))
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 4 }), async (texts) => {
        const archive = openArchive(Object.fromEntries(texts.map((text, index) => [`${index}.csv`, text])))
        const { format, rows } = await inspectAndRead(archive)
        for await (const { next, isLast } of readRows(archive, format)) {
          const rest: TableRow[] = []
          if (!isLast)
            for await (const batch of readRows(archive, format, JSON.parse(JSON.stringify(next))))
              rest.push(...batch.rows)
          expect(rest).toEqual(rows.slice(rows.length - rest.length))
          expect(rest.every(({ line: at }) => at >= next.line)).toBe(true)
          const before = rows.slice(0, rows.length - rest.length)
          if (!isLast) expect(before.every(({ line: at }) => at < next.line)).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('an archive that cannot be one table', () => {
  const csv = members['subscribed.csv']
  const many = (count: number, ending: string): Files =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}${ending}`, csv]))

  it.each<[name: string, files: Files, code: string, message: RegExp]>([
    ['a program beside a table', { 'a.csv': csv, 'run.exe': 'MZ' }, 'unreadable_file', /"run\.exe"/],
    ['a workbook beside a table', { 'a.csv': csv, 'b.xlsx': 'PK' }, 'unreadable_file', /"b\.xlsx"/],
    ['an archive in an archive', { 'a.csv': csv, 'b.zip': zipSync({}) }, 'unreadable_file', /"b\.zip"/],
    [
      'an archive that is called a table',
      { 'a.csv': csv, 'b.csv': zipSync(toParts({ 'c.csv': csv })) },
      'unreadable_file',
      /^b\.csv: .*archive/,
    ],
    [
      'a workbook that is called a table',
      { 'b.csv': buildWorkbook({ sheets: [{ name: 'a', rows: buildTextRow(1, ['a', 'b']) }] }) },
      'unreadable_file',
      /^b\.csv/,
    ],
    ['a picture that is called a table', { 'b.csv': Uint8Array.of(0x89, 0x50, 0x4e, 0x47) }, 'binary', /^b\.csv/],
    ['a path out of the archive', { 'a.csv': csv, '../../b.csv': csv }, 'unreadable_file', /\.\.\/b\.csv/],
    ['a name that looks like another', { 'a.csv': csv, 'b\u202evsc.csv': csv }, 'unreadable_file', /"b\?vsc\.csv"/],
    ['a very long name', { 'a.csv': csv, [`${'x'.repeat(300)}.csv`]: csv }, 'unreadable_file', /x{100}"/],
    ['names that differ by case', { 'a.csv': csv, 'A.csv': csv }, 'broken_xlsx', /twice/],
    ['too many tables', many(21, '.csv'), 'unreadable_file', /21 files.*20/],
    ['too many entries', { ...many(1, '.csv'), ...many(101, '/.DS_Store') }, 'unreadable_file', /102 files/],
    ['a folder with bytes', { 'a.csv': csv, 'b/': 'x' }, 'unreadable_file', /"b\/"/],
    ['tables without rows', { 'a.csv': '', 'b.csv': '\n\n' }, 'empty_file', /no rows/],
    [
      'too many columns together',
      Object.fromEntries(
        Array.from({ length: 3 }, (_, file) => [
          `${file}.csv`,
          Array.from({ length: 70 }, (__, column) => `Name ${'abc'[file]}${'abcdefg'[column % 7]}${column}x`).join(','),
        ]),
      ),
      'too_many_columns',
      /210/,
    ],
    [
      'a line without an end',
      { 'a.csv': csv, 'b.csv': `Email,Name\n${'x'.repeat(300_000)}` },
      'line_too_long',
      /^b\.csv/,
    ],
    ['no table', { 'a.txt': csv }, 'unreadable_file', /archive/],
  ])('is refused: %s', async (_, files, code, message) => {
    expect(await catchFault(inspectAndRead(openArchive(files)))).toMatchObject({ code, message })
  })

  it('is refused with a password, and with two entries of one name', async () => {
    const encrypted = changeDirectory(zipSync(toParts(members)), (view, at) =>
      view.setUint16(at + 8, view.getUint16(at + 8, true) | 1, true),
    )
    expect(await catchFault(inspectAndRead(openBytes(encrypted)))).toMatchObject({ code: 'password_protected' })
    const doubled = zipSync(toParts({ 'a.csv': csv, 'b.csv': csv }))
    changeDirectory(doubled, (view, at) => view.setUint8(at + 46, 97))
    expect(await catchFault(inspectAndRead(openBytes(doubled)))).toMatchObject({
      code: 'broken_xlsx',
      message: /twice/,
    })
  })

  it('is refused when a size, a checksum or a place is not that of the data', async () => {
    const build = () => zipSync(toParts(members))
    const damages: [field: number, value: number][] = [
      [16, 1],
      [20, 5],
      [24, 5],
      [24, 5000],
      [42, 3],
      [10, 99],
    ]
    for (const [field, value] of damages) {
      const bytes = changeDirectory(build(), (view, at) =>
        field === 10 ? view.setUint16(at + field, value, true) : view.setUint32(at + field, value, true),
      )
      expect(await catchFault(inspectFile(openBytes(bytes))), `${field}`).toMatchObject({ code: 'broken_xlsx' })
    }
    for (const length of [40, 200, build().length - 30])
      expect(await catchFault(inspectFile(openBytes(build().subarray(0, length))))).toMatchObject({
        code: 'broken_xlsx',
      })
  })

  it('is refused before it unpacks far more than it is long', async () => {
    for (const size of [40_000_000, 0xfffffff0]) {
      const bytes = changeDirectory(zipSync(toParts(members)), (view, at) => view.setUint32(at + 24, size, true))
      expect(await catchFault(inspectFile(openBytes(bytes)))).toMatchObject({
        code: 'broken_xlsx',
        message: /too much/,
      })
    }
  })
})
