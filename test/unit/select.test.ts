import { eq, getTableColumns, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { renderStatement } from '../../src/db/database.ts'
import { paginate } from '../../src/db/paginate.ts'
import { decodeAs, select, buildSelectList } from '../../src/db/select.ts'
import { pickChanges, insert, insertAll, insertWhere, remove, update } from '../../src/db/write.ts'
import { db } from '../support/seeding/rows.ts'

const lamps = sqliteTable('unit_lamps', {
  id: text().primaryKey(),
  name: text().notNull(),
  room_id: text(),
  labels: text({ mode: 'json' }).$type<string[]>().notNull(),
  note: text({ mode: 'json' }).$type<{ by: string }>(),
  is_on: integer({ mode: 'boolean' }).notNull(),
})
const rooms = sqliteTable('unit_rooms', { id: text().primaryKey(), name: text().notNull() })

beforeAll(async () => {
  await db.all(sql`create table if not exists unit_lamps (id text primary key, name text not null, room_id text,
    labels text not null, note text, is_on integer not null)`)
  await db.all(sql`create table if not exists unit_rooms (id text primary key, name text not null)`)
})
beforeEach(() => db.batch([remove(lamps, sql`1`), remove(rooms, sql`1`)]))
// Other files compare the tables of this database with the declared ones.
afterAll(() => db.batch([sql`drop table unit_lamps`, sql`drop table unit_rooms`]))

const lamp = { id: 'a', name: 'Hall', room_id: 'r', labels: ['x', '"y"'], note: { by: 'Æ' }, is_on: true }
const dark = { id: 'b', name: 'Attic', room_id: null, labels: [], note: null, is_on: false }
const loadLamps = () => db.all(select(getTableColumns(lamps)).from(lamps).orderBy(lamps.id))

describe('columns with booleans, numbers and JSON', () => {
  it.each([
    ['one by one', () => [insert(lamps, lamp), insert(lamps, dark)]],
    ['together', () => insertAll(lamps, [lamp, dark])],
    ['where a condition holds', () => [lamp, dark].map((row) => insertWhere(lamps, row, sql`1 = 1`))],
  ])('are read as they were written %s', async (_, statements) => {
    await db.batch(statements())
    expect(await loadLamps()).toEqual([lamp, dark])
    const stored = await db.all(sql`select labels, note, is_on from unit_lamps order by id`)
    expect(stored).toEqual([
      { labels: '["x","\\"y\\""]', note: '{"by":"Æ"}', is_on: 1 },
      { labels: '[]', note: null, is_on: 0 },
    ])
  })

  it('are written in one statement as one by one, for any rows', async () => {
    const chooseWord = (...words: string[]) => fc.constantFrom(...words, 'it\'s "ÆØÅ" 😀\\n', '', '7', '1.50', 'null')
    const arbitraryRow = fc.record({
      name: chooseWord('Hall'),
      room_id: fc.option(chooseWord('r')),
      labels: fc.array(chooseWord('x'), { maxLength: 1 }),
      note: fc.option(chooseWord('Æ').map((by) => ({ by }))),
      is_on: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryRow, { minLength: 1, maxLength: 4 }), async (values) => {
        const rows = values.map((one, index) => ({ ...one, id: `l${index}` }))
        const stored = sql`select *, typeof(is_on) as type from unit_lamps order by id`
        await db.batch([remove(lamps, sql`1`), ...rows.map((row) => insert(lamps, row))])
        const expected = await db.all(stored)
        await db.batch([remove(lamps, sql`1`), ...insertAll(lamps, rows)])
        expect(await db.all(stored)).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })

  it('are stored by an update', async () => {
    await db.batch([insert(lamps, lamp), update(lamps, { labels: ['z'], note: null, is_on: false }, sql`id = 'a'`)])
    expect(await loadLamps()).toEqual([{ ...lamp, labels: ['z'], note: null, is_on: false }])
  })

  it('are equal when their JSON is equal', () => {
    const before = { note: { by: 'a', at: 1 }, labels: ['x'] }
    expect(pickChanges(before, { note: { at: 1, by: 'a' }, labels: ['x'] })).toEqual({})
    expect(pickChanges(before, { labels: ['y'] })).toEqual({ labels: ['y'] })
  })
})

describe('a query of the query builder', () => {
  it('keeps columns of two tables with the same name separate, also in a batch', async () => {
    await db.batch([insert(rooms, { id: 'r', name: 'Room' }), ...insertAll(lamps, [lamp, dark])])
    const query = select({ id: lamps.id, name: lamps.name, room: rooms.name, is_on: lamps.is_on })
      .from(lamps)
      .leftJoin(rooms, eq(rooms.id, lamps.room_id))
      .orderBy(lamps.id)
    const rows = [
      { id: 'a', name: 'Hall', room: 'Room', is_on: true },
      { id: 'b', name: 'Attic', room: null, is_on: false },
    ]
    expect(await db.all(query)).toEqual(rows)
    expect(await db.batch([query, sql<{ n: number }>`select 1 as n`])).toEqual([rows, [{ n: 1 }]])
  })

  it('returns expressions under their names', async () => {
    await db.batch([insert(lamps, lamp)])
    const length = sql<number>`json_array_length(${lamps.labels})`
    expect(await db.first(select({ length }).from(lamps).where(eq(lamps.is_on, true)))).toEqual({ length: 2 })
  })
})

describe('a declared list of fields', () => {
  it('decodes the rows of a raw query', async () => {
    await db.batch([insert(lamps, lamp)])
    const fields = { labels: lamps.labels, lit: lamps.is_on }
    const query = decodeAs(fields, sql<{ lit: boolean }>`select ${buildSelectList(fields)}, 1 as more from ${lamps}`)
    expect(await db.all(query)).toEqual([{ labels: lamp.labels, lit: true, more: 1 }])
  })

  it('decodes the rows of a page', async () => {
    await db.batch(insertAll(lamps, [lamp, dark]))
    const { id, labels, is_on } = getTableColumns(lamps)
    const page = await paginate(
      db,
      { page: 1, size: 1, after: null },
      {
        from: sql`${lamps}`,
        id: sql`${id}`,
        where: [],
        orderBy: [{ column: sql`${lamps.name}`, desc: true }],
        columns: { id, labels, is_on },
        joins: sql`join ${lamps} on ${id} = page.id`,
      },
    )
    expect([page.count, page.rows]).toMatchObject([2, [{ id: 'a', labels: lamp.labels, is_on: true }]])
  })
})

describe('a statement', () => {
  it('binds every value when D1 can take them all', () => {
    const statement = sql`select ${1}, ${1}, ${'a'}, ${null}, ${true} where x = '?' and ${sql`y = ${'b'}`}`
    expect(renderStatement(statement)).toEqual({
      text: "select ?, ?, ?, ?, ? where x = '?' and y = ?",
      values: [1, 1, 'a', null, true, 'b'],
    })
  })

  it('binds each distinct value once when it has more values than D1 takes', () => {
    const part = sql`(a = ${1} and b <> '?' and c = ${'one'} and d = ${null})`
    const rendered = renderStatement(sql`select ${'1'} where ${sql.join(Array(40).fill(part), sql` or `)}`)
    expect(rendered.values).toEqual(['1', 1, 'one', null])
    const numbered = "(a = ?2 and b <> '?' and c = ?3 and d = ?4)"
    expect(rendered.text).toBe(`select ?1 where ${Array(40).fill(numbered).join(' or ')}`)
  })
})
