import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { renderStatement } from '../../src/db/database.ts'

it('a statement binds every value when D1 can take them all', () => {
  const statement = sql`select ${1}, ${1}, ${'a'}, ${null}, ${true} where x = '?' and ${sql`y = ${'b'}`}`
  expect(renderStatement(statement)).toEqual({
    text: "select ?, ?, ?, ?, ? where x = '?' and y = ?",
    values: [1, 1, 'a', null, true, 'b'],
  })
})

it('a statement binds each distinct value once when it has more values than D1 takes', () => {
  const part = sql`(a = ${1} and b <> '?' and c = ${'one'} and d = ${null})`
  const { text, values } = renderStatement(sql`select ${'1'} where ${sql.join(Array(40).fill(part), sql` or `)}`)
  expect(values).toEqual(['1', 1, 'one', null])
  const numbered = "(a = ?2 and b <> '?' and c = ?3 and d = ?4)"
  expect(text).toBe(`select ?1 where ${Array(40).fill(numbered).join(' or ')}`)
})
