import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const record = 'docs/adr/0002-raw-sql.md'

/** Where the template literal that begins at `start`, behind its backtick, ends; and its text without what is put in. */
function literalAt(source: string, start: number): { text: string; end: number } {
  let text = ''
  let index = start
  while (index < source.length && source[index] !== '`') {
    if (source.startsWith('${', index)) {
      index = afterExpression(source, index + 2)
      continue
    }
    if (source[index] === '\\') index++
    text += source[index++]
  }
  return { text, end: index + 1 }
}

/** Behind the brace that closes the expression that begins here. */
function afterExpression(source: string, start: number): number {
  let depth = 1
  let index = start
  while (index < source.length && depth > 0) {
    const character = source[index]
    if (character === '`') index = literalAt(source, index + 1).end - 1
    else if (character === '{') depth++
    else if (character === '}') depth--
    index++
  }
  return index
}

/** What a builder cannot check: words between the values and columns of a template. */
const isRaw = (source: string): boolean =>
  [...source.matchAll(/\bsql(?:<[^`;]*>)?`/g)].some(({ index, 0: tag }) =>
    /[a-z]{2}/i.test(literalAt(source, index + tag.length).text),
  )

describe('a statement in SQL', () => {
  it.each([
    ['words', 'sql`select 1`', true],
    ['a typed row', 'sql<{ n: number }>`select ${count} as n`', true],
    ['words inside of a value', 'f(sql`${sql`a is null`}`)', true],
    ['a column', 'sql`${users.id}`', false],
    ['a call with a template', 'sql`${f(`${a} words`)}`', false],
    ['another tag', 'text`select 1`', false],
  ])('is known by its words: %s', (_, source, expected) => {
    expect(isRaw(source)).toBe(expected)
  })

  it('is only in the files that the decision lists', async () => {
    const files = (await readdir('src', { recursive: true, withFileTypes: true }))
      .filter((one) => one.isFile() && one.name.endsWith('.ts'))
      .map(({ parentPath, name }) => join(parentPath, name).replaceAll('\\', '/'))
    const found = await Promise.all(files.map(async (path) => (isRaw(await readFile(path, 'utf8')) ? [path] : [])))
    const named = [...(await readFile(record, 'utf8')).matchAll(/^- `(src\/[^`]+)`$/gm)].map(([, path]) => path)
    expect(named.toSorted()).toEqual(found.flat().toSorted())
  })
})
