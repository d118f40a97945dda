import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { farDatabase } from '../support/storage/near-database.ts'

const table = 'near_and_far'
const databases = { near: env.DB, far: farDatabase() }
type Ask = (database: D1Database) => Promise<unknown>

const inBoth = async (ask: Ask) => ({ near: await ask(databases.near), far: await ask(databases.far) })

const clear = (database: D1Database) => database.exec(`drop table if exists ${table}`)

beforeAll(async () => {
  await inBoth(async (database) => {
    await clear(database)
    await database.exec(
      `create table ${table} (id integer primary key, name text unique, part blob, amount real, other integer references ${table} (id))`,
    )
  })
  return () => inBoth(clear)
})

/** What no two databases have alike: times, sizes, and the last row of all that were written before. */
const ofOneDatabase = [
  'served_by',
  'served_by_primary',
  'timings',
  'duration',
  'size_after',
  'last_row_id',
  'changed_db',
]

function comparable(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(comparable)
  if (typeof answer !== 'object' || answer === null || answer instanceof ArrayBuffer) return answer
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([name]) => !ofOneDatabase.includes(name))
      .map(([name, value]) => [name, comparable(value)]),
  )
}

const outcomeOf = (ask: Ask) => (database: D1Database) =>
  ask(database).then(
    (answer) => ({ answer: comparable(answer) }),
    (error: Error) => ({ message: error.message, cause: (error.cause as Error | undefined)?.message }),
  )

const insert = `insert into ${table} (id, name, part, amount) values (?, ?, ?, ?)`

const answered: Record<string, Ask> = {
  'a row that is written': (db) =>
    db
      .prepare(insert)
      .bind(1, 'ægir', new Uint8Array([1, 2]), 0.5)
      .run(),
  'a row that is written and returned': (db) => db.prepare(`${insert} returning *`).bind(2, null, null, -1e300).all(),
  'a row that runs and returns': (db) => db.prepare(`update ${table} set amount = 7 where id = 2 returning id`).run(),
  'all rows': (db) => db.prepare(`select * from ${table} order by id`).all(),
  'rows as lists': (db) => db.prepare(`select * from ${table} order by id`).raw({ columnNames: true }),
  'the first row': (db) => db.prepare(`select name, part from ${table} order by id`).first(),
  'a column of the first row': (db) => db.prepare(`select name from ${table} order by id`).first('name'),
  'no row': (db) => db.prepare(`select * from ${table} where id = 0`).first(),
  'columns of one name': (db) => db.prepare('select 1 as a, 2 as a').all(),
  'a text with quotes, NUL and letters of other planes': (db) => db.prepare('select ? as text').bind(`'"\0😀`).all(),
  'a number without a fraction that is large': (db) => db.prepare('select 9007199254740991 as n, 1e20 as m').all(),
  'a truth': (db) => db.prepare('select ? as yes, ? as no').bind(true, false).all(),
  'a batch': (db) =>
    db.batch([db.prepare(insert).bind(3, 'x', null, 1), db.prepare(`update ${table} set amount = 2 where id > 1`)]),
  'lines that are executed': async (db) => (await db.exec(`select 1;\nupdate ${table} set amount = 3`)).count,
}

const refused: Record<string, Ask> = {
  'a name that is taken': (db) => db.prepare(insert).bind(9, 'ægir', null, 1).run(),
  'a batch of which the last statement fails': (db) =>
    db.batch([db.prepare(insert).bind(8, 'left', null, 1), db.prepare(insert).bind(1, 'again', null, 1)]),
  'a reference to nothing': (db) => db.prepare(`update ${table} set other = 77`).run(),
  'what is no SQL': (db) => db.prepare('selec 1').all(),
  'no statement': (db) => db.prepare(' ').all(),
  'a table that does not exist': (db) => db.prepare('select * from nowhere').all(),
  'a hundred and one values': (db) =>
    db
      .prepare(`select ${Array.from({ length: 101 }, () => '?').join()}`)
      .bind(...Array.from({ length: 101 }, () => 1))
      .all(),
  'too few values': (db) => db.prepare('select ?, ?').bind(1).all(),
  'the beginning of a transaction': (db) => db.prepare('begin').run(),
  'a line that fails': (db) => db.exec('select 1\nselec 2'),
  'a pattern of 51 bytes': (db) => db.prepare(`select 'a' like ?`).bind('a'.repeat(51)).all(),
}

describe('the database of the tests', () => {
  it.each(Object.entries(answered))('answers as that of the platform: %s', async (_, ask) => {
    const { near, far } = await inBoth(outcomeOf(ask))
    expect(near).toEqual(far)
    expect(near).toHaveProperty('answer')
  })

  it.each(Object.entries(refused))('refuses as that of the platform: %s', async (_, ask) => {
    const { near, far } = await inBoth(outcomeOf(ask))
    expect(near).toEqual(far)
    expect(near).toHaveProperty('message')
    const { results } = await env.DB.prepare(`select id from ${table} where id > 3`).all()
    expect(results).toEqual([])
  })

  it('answers a session with a bookmark that becomes later', async () => {
    const session = env.DB.withSession('first-primary')
    await session.prepare(`update ${table} set amount = 4`).run()
    const first = session.getBookmark() ?? ''
    await session.prepare(`update ${table} set amount = 5`).run()
    expect(first).toMatch(/^[0-9a-f]{8}-/)
    expect((session.getBookmark() ?? '') > first).toBe(true)
  })
})
