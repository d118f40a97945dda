import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { db } from '../support/seeding/rows.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

describe('both search indexes', () => {
  const orders = 400
  const batches = 150
  const changesABatch = 12
  /** Changes of single rows that come in no order, some of which take a text out or bring one. */
  const changes = (first: number, batch: number): string[] =>
    Array.from({ length: changesABatch }, (_, at) => {
      const drawn = (batch * changesABatch + at) * 7919
      const seq = first + (drawn % orders)
      const letters = String.fromCodePoint(...[3, 5, 11].map((step) => 97 + (Math.floor(drawn / step) % 7)))
      const text = Math.floor(drawn / 7) % 4 ? `'that ${letters}'` : `''`
      return at % 2
        ? `update orders set search_text = ${text} where seq = ${seq}`
        : `update users set search = ${text}, email_folded = '', phone_digits = ''
            where id = (select user_id from orders where seq = ${seq})`
    })
  /** Sequences of three letters for which an index has other rows than those whose text contains them. */
  const wrong = async (index: string, table: string, text: string) => {
    const rowsOf = (from: string) => `select coalesce(group_concat(key), '') from (select ${from} order by key)`
    const found = await env.DB.prepare(
      `with grams as (select distinct substr(${text}, 1, 3) as gram from ${table}
        where length(${text}) >= 3 order by seq desc limit 60)
      select gram from grams where (${rowsOf(`seq as key from ${table} where instr(${text}, gram) > 0`)})
        <> (${rowsOf(`rowid as key from ${index} where ${index} match '"' || gram || '"'`)})`,
    ).all()
    return found.results
  }

  it('agree with the tables after thousands of changes and deletions', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, orders)
    const { first = 0 } =
      (await db.first(
        sql<{ first: number }>`select min(seq) as first from orders where edition_id = ${shop.edition_id}`,
      )) ?? {}
    for (let batch = 0; batch < batches; batch++)
      await env.DB.batch(changes(first, batch).map((change) => env.DB.prepare(change)))
    expect(await wrong('order_search', 'orders', 'search_text')).toEqual([])
    expect(await wrong('customer_search', 'users', 'search_text')).toEqual([])
  })
})
