import { describe, expect, it } from 'vitest'
import { inspectFile, openBytes } from '../src/index.ts'
import { measureFloor } from './support/measure-floor.ts'
import { inspectAndRead } from './support/read.ts'

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
    ['with tabs around them', '"id"\t,"name",\t"note"\n1,\t"Ann, x"\t,y\n2,"Bo"\t,\t"z"\n'],
    ['with other spaces around them', 'id,name,note\n1,\u00a0"Ann, x"\u202f,y\n2,\u200b"Bo",z\n'],
    ['behind a byte order mark that was converted', 'ï»¿"id","name","note"\n1,"Ann, x",y\n2,Bo,z\n'],
    ['around each line, with delimiters behind them', '"id,name,note";;\n"1,""Ann, x"",y";;\n"2,Bo,z";;\n'],
    ['around each line, with the same delimiter behind', '"id;name;note";\n"1;Ann, x;y";\n"2;Bo;z";\n'],
    ['around each line, with other delimiters inside', '"id;name;note",,\n"1;Ann, x;y",,\n"2;Bo;z",,\n'],
    ['around the header', '"id,name,note"\n1,"Ann, x",y\n2,Bo,z\n'],
    ['around most lines', '"id;name;note"\n"1;Ann, x;y"\n2;Bo;z\n'],
    ['that are single', "'id','name','note'\n'1','Ann, x','y'\n'2','Bo','z'\n"],
    ['that are single and around texts alone', "id;name;note\n1;'Ann, x';'y'\n2;'Bo';'z'\n"],
    ['that are typographic', '“id”,“name”,“note”\n“1”,“Ann, x”,“y”\n“2”,“Bo”,“z”\n'],
    ['as in German', '„id“;„name“;„note“\n„1“;„Ann, x“;„y“\n„2“;„Bo“;„z“\n'],
    ['as in French', '«id»\t«name»\t«note»\n«1»\t«Ann, x»\t«y»\n«2»\t«Bo»\t«z»\n'],
    ['that are typographic where a cell needs them', 'id,name,note\n1,”Ann, x”,y\n2,Bo,z\n'],
    ['behind a line with a delimiter that the table does not have', 'sep=,\nid;name;note\n1;Ann, x;y\n2;Bo;z\n'],
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

  it('is read as PHP writes it at the end of cells, also after a backslash', async () => {
    expect(await readTable('id;name;note\n1;"\\"hi\\"";y\n2;"C:\\dir\\";"say \\"ho\\""\n')).toEqual([
      ['id', 'name', 'note'],
      ['1', '"hi"', 'y'],
      ['2', 'C:\\dir\\', 'say "ho"'],
    ])
  })

  it('is read with marks around each line, of which some are short or have line breaks', async () => {
    const text = '"id,name,note"\n"1,""Ann\nx"",y"\n"2,Bo"\n"3,Cy,""a """"b"""""""\n'
    expect(await readTable(text)).toEqual([
      ['id', 'name', 'note'],
      ['1', 'Ann\nx', 'y'],
      ['2', 'Bo'],
      ['3', 'Cy', 'a "b"'],
    ])
  })

  it('is read as SQL writes it, with doubled or escaped marks, and others inside', async () => {
    const text = `'id','name','note'\n'1','O''Brien, x','say "hi"'\n'2','O\\'Neil','"ho"'\n'3','D'Arcy','it''s'\n`
    expect(await readTable(text)).toEqual([
      ['id', 'name', 'note'],
      ['1', "O'Brien, x", 'say "hi"'],
      ['2', "O'Neil", '"ho"'],
      ['3', "D'Arcy", "it's"],
    ])
  })

  it('keeps marks that are part of some cells', async () => {
    const rows = ["1,'t Hooft,“Early bird”", "2,'+4512345678,“Early bird”", '3,’n Roll,“Late bird”']
    expect(await readTable(`id,name,note\n${rows.join('\n')}\n`)).toEqual([
      ['id', 'name', 'note'],
      ...rows.map((row) => row.split(',')),
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
  it('are a fault of their row and column, and do not change the other rows', async () => {
    const text = 'id,name,note\n1,"Ann"x,y\n2,Bo,z\n3,"C"d"e",z\n'
    const { rows } = await inspectAndRead(openBytes(new TextEncoder().encode(text)))
    expect(rows.map(({ line, fault }) => [line, fault?.code, fault?.column])).toEqual([
      [2, 'misplaced_quote', 2],
      [3, undefined, undefined],
      [4, 'misplaced_quote', 2],
    ])
  })

  it('are an error in lines that are quoted as a whole, and when single marks stay open', async () => {
    const wrapped = await inspectAndRead(openBytes(new TextEncoder().encode('"a,b,c"\n"1,""x""y,z"\n"2,x,y"\n')))
    expect(wrapped.rows.map(({ fault }) => fault?.code)).toEqual(['misplaced_quote', undefined])
    const text = "'a','b','c'\n'1','x\ny','z'\n'2','x','y'\n"
    const single = await inspectAndRead(openBytes(new TextEncoder().encode(text)))
    expect(single.rows.map(({ line, fault }) => [line, fault?.code])).toEqual([
      [2, 'misplaced_quote'],
      [3, undefined],
      [4, undefined],
    ])
  })

  it('cost little when each cell opens one and none is closed', async () => {
    const line = `${"'a,".repeat(60_000)}\n`
    const text = `'id','name'\n'1','x'\n'2','y'\n${line.repeat(8)}`
    const start = performance.now()
    const format = await inspectFile(openBytes(new TextEncoder().encode(text)))
    expect(format.kind === 'csv' && format.marks).toBe('single')
    expect(performance.now() - start).toBeLessThan(500 * measureFloor())
  })

  it('keep lines and places of the original correct, also over line breaks in cells', async () => {
    const text = 'id, name\n1, "Ann\n x"\n\ufeff"2", "Bo"\n'
    const { rows } = await inspectAndRead(openBytes(new TextEncoder().encode(text), 3))
    expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
      [2, '1', 'Ann\n x'],
      [4, '2', 'Bo'],
    ])
    const last = new TextEncoder().encode(text).subarray(rows[1]?.offset)
    expect(new TextDecoder().decode(last)).toBe('"2", "Bo"\n')
  })
})
