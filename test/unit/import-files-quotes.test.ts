import { describe, expect, it } from 'vitest'
import { openBytes } from '../../src/domain/data-imports/files/source.ts'
import { inspectAndRead } from '../support/import-files.ts'

async function readTable(text: string) {
  const { format, rows } = await inspectAndRead(openBytes(new TextEncoder().encode(text), 5))
  return [format.names, ...rows.map(({ cells }) => cells.map((cell) => cell.trim()))]
}

const table = [
  ['id', 'name', 'note'],
  ['1', 'Ann, x', 'y'],
  ['2', 'Bo', 'z'],
]

describe('a table with unusual quotation marks', () => {
  it.each([
    ['behind two byte order marks', '\ufeff\ufeff"id","name","note"\n1,"Ann, x",y\n2,Bo,z\n'],
    ['behind a byte order mark at the beginning of a row', 'id,name,note\n\ufeff"1","Ann, x",y\n2,Bo,z\n'],
    ['behind a byte order mark in a row', 'id,name,note\n1,\ufeff\ufeff"Ann, x",y\n2,Bo,z\n'],
    ['with spaces before them', 'id, name, note\n1, "Ann, x", y\n2, "Bo", z\n'],
    ['with spaces behind them', '"id" ,"name" ,"note" \r\n1,"Ann, x" ,y\r\n2,"Bo" ,"z" \r\n'],
    ['around each line', '"id,name,note"\n"1,""Ann, x"",y"\n"2,Bo,z"\n'],
    ['around each line but the header', 'id,name,note\n"1,""Ann, x"",y"\n"2,Bo,z"\n'],
    ['around one line', 'id,name,note\n1,"Ann, x",y\n"2,Bo,z"\n'],
  ])('is read as it is meant: %s', async (_, text) => {
    expect(await readTable(text)).toEqual(table)
  })

  it('is read as PHP writes it, if the file doubles none', async () => {
    expect(await readTable('id,name,note\n1,"Ann \\"the\\" Great",y\n2,"Bo \\", x",""\n')).toEqual([
      ['id', 'name', 'note'],
      ['1', 'Ann "the" Great', 'y'],
      ['2', 'Bo ", x'],
    ])
    expect(await readTable('id,name,note\n1,"C:\\",y\n2,"Bo ""B""",z\n')).toEqual([
      ['id', 'name', 'note'],
      ['1', 'C:\\', 'y'],
      ['2', 'Bo "B"', 'z'],
    ])
  })

  it('is read as it is meant when the marks are inside cells', async () => {
    const text = 'id,name,note\n1,5" pipe,"""Ann"""\n2,C "the" D,"say, ""hi"" , ""ho"""\n'
    expect(await readTable(text)).toEqual([
      ['id', 'name', 'note'],
      ['1', '5" pipe', '"Ann"'],
      ['2', 'C "the" D', 'say, "hi" , "ho"'],
    ])
  })
})

describe('quotation marks that cannot be read', () => {
  it('are an error of their row that says what to do, and do not change the other rows', async () => {
    const text = 'id,name,note\n1,"Ann"x,y\n2,Bo,z\n3,"C"d"e",z\n'
    const { rows } = await inspectAndRead(openBytes(new TextEncoder().encode(text)))
    expect(rows.map(({ line, fault }) => [line, fault?.code, fault?.column])).toEqual([
      [2, 'misplaced_quote', 2],
      [3, undefined, undefined],
      [4, 'misplaced_quote', 2],
    ])
    expect(rows[0]?.fault?.message).toMatch(/double those inside/)
  })

  it('keep lines and places of the original correct, also over line breaks in cells', async () => {
    const text = 'id, name\n1, "Ann\n x"\n\ufeff"2", "Bo"\n'
    const { rows } = await inspectAndRead(openBytes(new TextEncoder().encode(text), 3))
    expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
      [2, '1', 'Ann\n x'],
      [4, '2', 'Bo'],
    ])
    const last = new TextEncoder().encode(text).subarray(rows[1]?.sourceOffset)
    expect(new TextDecoder().decode(last)).toBe('"2", "Bo"\n')
  })
})
