import { eq, inArray, sql } from 'drizzle-orm'
import { alias, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { render } from '../../src/db/render.ts'
import { orders } from '../../src/db/schema/sales/orders.ts'
import { users } from '../../src/db/schema/users.ts'
import { decodeAs, select } from '../../src/db/select.ts'
import { insert, insertAll, update } from '../../src/db/write.ts'

const buyers = alias(users, 'buyers')
const stored = { id: 'usr_1', metadata: { seat: 'A-17' }, is_active: true, email: null }
const changes = { metadata: { seat: 'A-17' }, version: sql`version + ${1}`, is_active: false }

describe('a statement is rendered as drizzle renders it', () => {
  it.each([
    ['values of each type', sql`select ${1}, ${'a'}, ${null}, ${true}, ${0.5}, ${''}`],
    ['nothing', sql`select 1 ${undefined} ${sql``} where ${sql.raw("x = '?'")}`],
    ['statements in statements', sql`select * from (${sql`select ${1} where ${sql`a = ${'b'}`}`}) where c = ${2}`],
    ['lists', sql`select 1 where a in ${[1, 'b', sql`c + ${3}`]} and b in ${[]}`],
    ['joined parts', sql.join([sql`a = ${1}`, sql`b = ${2}`], sql` and `)],
    ['names', sql`select ${sql.identifier('a "b"')} from ${users} where ${users.email} = ${'a'}`],
    ['tables with another name', sql`select ${buyers.email} from ${buyers} where ${eq(buyers.id, 'usr_1')}`],
    [
      'values as their columns store them',
      sql`select ${sql.param({ a: [1] }, users.metadata)}, ${sql.param(true, users.is_active)}, ${sql.param(null, users.metadata)}`,
    ],
    ['expressions with names', sql`select ${sql`count(*) + ${1}`.as('count')} from ${orders}`],
    ['queries', sql`select exists ${decodeAs({}, sql`select ${1} from ${orders}`)}`],
    [
      'the query builder',
      select({ id: orders.id, total: sql`${orders.amount_minor} + ${1}` })
        .from(orders)
        .innerJoin(users, eq(users.id, orders.user_id))
        .where(inArray(orders.id, ['a', 'b']))
        .orderBy(orders.created_at)
        .limit(5),
    ],
    ['subqueries', sql`select * from ${select({ id: orders.id }).from(orders).where(eq(orders.id, 'a')).as('some')}`],
    ['one row', insert(users, stored as never)],
    ['many rows', insertAll(users, [stored, { ...stored, id: 'usr_2' }] as never)[0] ?? sql``],
    ['changes', update(users, changes as never, eq(users.id, 'usr_1'))],
  ])('with %s', (_, statement) => {
    const { sql: text, params } = new SQLiteSyncDialect().sqlToQuery(statement.getSQL())
    expect(render(statement)).toEqual({ text, values: params })
    expect(render(statement)).toEqual({ text, values: params })
  })
})

it('a statement of too many values has each of them once', () => {
  const part = sql`(a = ${1} and b <> '?' and c = ${'one'} and d = ${null})`
  const { text, values } = render(sql`select ${'1'} where ${sql.join(Array(40).fill(part), sql` or `)}`)
  expect(values).toEqual(['1', 1, 'one', null])
  const numbered = "(a = ?2 and b <> '?' and c = ?3 and d = ?4)"
  expect(text).toBe(`select ?1 where ${Array(40).fill(numbered).join(' or ')}`)
})
