import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, post, rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { walkAs } from '../support/lists.ts'
import { finishErasures, givenKnown } from '../support/personal-data.ts'
import { givenMember } from '../support/seeding/members.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

interface Searched {
  count: number
  rows_read: number
}

const searched = async (path: string): Promise<Searched> => {
  const reply = await get(path)
  expect(reply.status === 200 || reply.text).toBe(true)
  return { count: reply.body.count, rows_read: costOf(reply).rows_read }
}

describe('the rows that a search reads', () => {
  let shop: Shop
  let small: Record<string, Searched>
  let large: Record<string, Searched>
  const paths = (): Record<string, string> => {
    const edition = `edition_id=${shop.edition_id}&page_size=50`
    const organization = `organization_id=${shop.organization_id}&page_size=50`
    return {
      rare: `/v1/orders?${edition}&search=rare`,
      'rare, of the organisation': `/v1/orders?${organization}&search=rare`,
      'rare number': `/v1/orders?${edition}&order_number=rare`,
      'rare address': `/v1/orders?${edition}&customer_email=seldom`,
      'rare, with a filter': `/v1/orders?${edition}&status=completed&search=rare`,
      'rare, by amount': `/v1/orders?${edition}&ordering=amount&search=rare`,
      'nothing there': `/v1/orders?${edition}&search=nothing%20there`,
      'rare customer': `/v1/user?${organization}&search=seldom`,
      'rare customer of the edition': `/v1/user?${edition}&search=seldom`,
    }
  }
  const read = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(paths()).map(async ([name, path]): Promise<[string, Searched]> => [name, await searched(path)]),
      ),
    )
  beforeAll(async () => {
    shop = await seedShop()
    // The last that is found is not the last of the index, behind which nothing more would be read.
    await seedSearchedOrders(shop, 1, 2008)
    small = await read()
    await seedSearchedOrders(shop, 2009, 11_000)
    large = await read()
  })

  it('are the same among 2,000 orders and among 11,000, for a rare text', () => {
    expect(large).toEqual(small)
    expect(small).toMatchObject({
      rare: { count: 40 },
      'rare, of the organisation': { count: 40 },
      'rare number': { count: 40 },
      'rare address': { count: 40 },
      'rare, with a filter': { count: 20 },
      'rare, by amount': { count: 40 },
      'nothing there': { count: 0 },
      'rare customer': { count: 40 },
      'rare customer of the edition': { count: 40 },
    })
  })

  it('are a few for each found order, and no others where none is found', () => {
    const most = Object.fromEntries(Object.entries(large).map(([name, { rows_read }]) => [name, rows_read]))
    expect(most).toMatchInlineSnapshot(`
      {
        "nothing there": 7,
        "rare": 128,
        "rare address": 127,
        "rare customer": 84,
        "rare customer of the edition": 86,
        "rare number": 126,
        "rare, by amount": 128,
        "rare, of the organisation": 166,
        "rare, with a filter": 88,
      }
    `)
  })

  it('are those of a page and of the count, for a frequent text', async () => {
    const edition = `edition_id=${shop.edition_id}&page_size=50`
    const [orders, customers] = await Promise.all(
      [`/v1/orders?${edition}&search=common`, `/v1/user?${edition}&search=often`].map(searched),
    )
    // Every eighth, without the rare ones among them.
    expect(orders?.count).toBe(1365)
    expect(customers?.count).toBe(1365)
    // The rows that show that there are many, the rows that are compared, and the page.
    expect(orders?.rows_read).toBeLessThan(3 * 501 + 3 * 1365 + 8 * 51 + 6 * 51)
    expect(customers?.rows_read).toBeLessThan(3 * 501 + 4 * 1365 + 3 * 8 * 51 + 6 * 51)
  })

  it('find each of many orders by the links from page to page, in any ordering', async () => {
    for (const ordering of ['-created', 'modified', 'order_number', 'amount']) {
      const walked = await walkAs(
        rootToken,
        `/v1/orders?edition_id=${shop.edition_id}&page_size=100&search=common&ordering=${ordering}`,
      )
      expect([ordering, new Set(walked.ids).size, walked.count]).toEqual([ordering, 1365, 1365])
    }
  })

  it('are bounded when few of many matches pass another filter', async () => {
    await write(sql`update orders set status = 'cancelled' where order_number in ('common-9992', 'common-8')
      and edition_id = ${shop.edition_id}`)
    const { count, rows_read } = await searched(
      `/v1/orders?edition_id=${shop.edition_id}&type=imported&status=cancelled&search=common`,
    )
    expect(count).toBe(2)
    expect(rows_read).toBeLessThan(8 * 1365)
  })

  it('are those of the newest 10,000 orders, for a text of one or two letters', async () => {
    const edition = `edition_id=${shop.edition_id}`
    const few = await searched(`/v1/orders?${edition}&search=e-`)
    // "rare-" and "common-" end with the letters and a hyphen; of the older 1,000 orders nothing is found.
    expect(few.count).toBe(20)
    expect(few.rows_read).toBeLessThan(45_000)
    const before = few.rows_read
    await seedSearchedOrders(shop, 11_001, 13_000)
    const after = await searched(`/v1/orders?${edition}&search=e-`)
    expect(after.count).toBe(0)
    expect(Math.abs(after.rows_read - before)).toBeLessThan(2000)
    for (const [path, found] of [
      [`/v1/orders?organization_id=${shop.organization_id}&search=mo`, 1250],
      [`/v1/user?organization_id=${shop.organization_id}&search=gu`, 8750],
    ]) {
      const { count, rows_read } = await searched(String(path))
      expect([path, count]).toEqual([path, found])
      expect(rows_read).toBeLessThan(60_000)
    }
  })
})

describe('a search of another organisation', () => {
  it('neither finds nor reads rows of this organisation', async () => {
    const [mine, other] = [await seedShop(), await seedShop()]
    await givenOrders(mine, [anOrder({ order_number: 'zebra-1', customer: { email: 'zebra@example.dk' } })])
    for (const [list, id] of [
      ['orders', `edition_id=${other.edition_id}`],
      ['orders', `organization_id=${other.organization_id}`],
      ['user', `organization_id=${other.organization_id}`],
    ]) {
      const zebra = await searched(`/v1/${list}?${id}&search=zebra`)
      expect(zebra).toEqual(await searched(`/v1/${list}?${id}&search=unheard`))
      expect(zebra.count).toBe(0)
    }
    // A member of the other organisation who names this one.
    const { token } = await givenMember({ id: other.organization_id }, 'admin')
    for (const path of [
      `/v1/orders?edition_id=${mine.edition_id}`,
      `/v1/orders?organization_id=${mine.organization_id}`,
      `/v1/user?organization_id=${mine.organization_id}`,
      `/v1/user?edition_id=${mine.edition_id}`,
    ]) {
      const replies = await Promise.all(['zebra', 'unheard'].map((text) => get(`${path}&search=${text}`, token)))
      const [zebra, unheard] = replies.map((reply) => [reply.status, reply.body.count, costOf(reply).rows_read])
      expect([path, zebra]).toEqual([path, unheard])
      expect(replies[0]?.status).toBeLessThan(500)
      expect(replies[0]?.body.count ?? 0).toBe(0)
    }
  })

  it('cannot find them by operators of the search syntax', async () => {
    const [mine, other] = [await seedShop(), await seedShop()]
    await givenOrders(mine, [anOrder({ order_number: 'zebra-1' })])
    await givenOrders(other, [anOrder({ order_number: 'lion "OR" zebra*' })])
    for (const text of [
      'lion" OR "zebra',
      'lion") OR ("zebra',
      'NEAR(zebra lion)',
      'text: zebra',
      '^zebra',
      'zebra*',
      '- zebra',
      '"""',
      "zebra'--",
      'zebra" AND NOT "lion',
    ]) {
      const { status, body } = await get(`/v1/orders?edition_id=${other.edition_id}&search=${encodeURIComponent(text)}`)
      const own = ['zebra*'].includes(text) ? ['lion "OR" zebra*'] : []
      expect([text, status, body.results.map((order: { order_number: string }) => order.order_number)]).toEqual([
        text,
        200,
        own,
      ])
    }
  })
})

describe('the rows written to the index', () => {
  const written = async (statement: string, ...values: unknown[]) =>
    (
      await env.DB.prepare(statement)
        .bind(...values)
        .run()
    ).meta.rows_written

  it('are one for a new text, two for a changed one, one for a deleted one, and none for an unchanged one', async () => {
    const shop = await seedShop()
    const [order = ''] = await givenOrders(shop, [anOrder()])
    const row = await db.first(sql<{ user_id: string }>`select user_id from orders where id = ${order}`)
    expect({
      same: await written('update orders set search_own = search_own where id = ?', order),
      changed: await written(`update orders set search_own = search_own || 'x' where id = ?`, order),
      customer: await written(`update users set search = 'x' || search where id = ?`, row?.user_id),
      edition: await written(
        `update edition_customers set locale = 'pl' where user_seq = (select seq from users where id = ?)`,
        row?.user_id,
      ),
    }).toMatchInlineSnapshot(`
      {
        "changed": 5,
        "customer": 7,
        "edition": 1,
        "same": 1,
      }
    `)
  })
})

describe('eraseUser', () => {
  const terms = async (table: 'customer_search' | 'order_search') =>
    new Set(
      (await db.all(sql<{ term: string }>`select term from ${sql.raw(`${table}_terms`)}`)).map(({ term }) => term),
    )
  const grams = (text: string) => [...text].slice(2).map((_, at) => [...text].slice(at, at + 3).join(''))

  it('removes the texts of a person from the index, with every entry that only they had', async () => {
    await env.DB.batch(
      ['customer_search', 'order_search'].map((table) =>
        env.DB.prepare(`create virtual table ${table}_terms using fts5vocab('${table}', 'row')`),
      ),
    )
    const [known, other] = [await givenKnown(), await givenKnown()]
    const before = await terms('customer_search')
    const held = grams(known.email).filter((gram) => before.has(gram))
    expect(held).toEqual(grams(known.email))
    const found = async (path: string) => (await searched(`${path}${encodeURIComponent(known.email)}`)).count
    expect(await found(`/v1/user?organization_id=${known.organization_id}&search=`)).toBe(1)
    await post(`/v1/user/${known.id}/erase`, {})
    await finishErasures()
    expect(await found(`/v1/user?organization_id=${known.organization_id}&search=`)).toBe(0)
    expect(await found(`/v1/orders?organization_id=${known.organization_id}&customer_email=`)).toBe(0)
    const left = await terms('customer_search')
    const texts = await db.all(sql<{ text: string }>`select search_text as text from users`)
    const kept = new Set(texts.flatMap(({ text }) => grams(text)))
    const isMark = (term: string) => /^\p{M}/u.test(term)
    expect([...left].filter((term) => !kept.has(term) && !isMark(term))).toEqual([])
    expect([...before].filter((term) => !left.has(term)).length).toBeGreaterThan(0)
    expect(grams(other.email).filter((gram) => !left.has(gram))).toEqual([])
  })
})
