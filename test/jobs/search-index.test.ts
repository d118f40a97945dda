import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, post } from '../support/api.ts'
import { finishErasures, givenKnown } from '../support/personal-data.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop } from '../support/seeding/sales/orders.ts'

describe('the rows written to the search index', () => {
  const countWrittenRows = async (statement: string, ...values: unknown[]) =>
    (
      await env.DB.prepare(statement)
        .bind(...values)
        .run()
    ).meta.rows_written

  it('are one for a new text, two for a changed one, one for a deleted one, and none without a change', async () => {
    const shop = await seedShop()
    const [order = ''] = await givenOrders(shop, [anOrder()])
    const row = await db.first(sql<{ user_id: string }>`select user_id from orders where id = ${order}`)
    expect({
      same: await countWrittenRows('update orders set search_text = search_text where id = ?', order),
      changed: await countWrittenRows(`update orders set search_text = search_text || 'x' where id = ?`, order),
      customer: await countWrittenRows(`update users set search_text = 'x' || search_text where id = ?`, row?.user_id),
      edition: await countWrittenRows(
        `update edition_customers set search_text = 'x' || search_text where user_seq = (select seq from users where id = ?)`,
        row?.user_id,
      ),
    }).toMatchInlineSnapshot(`
      {
        "changed": 3,
        "customer": 3,
        "edition": 3,
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

  it('removes every text of the person from the search', async () => {
    await env.DB.batch(
      ['customer_search', 'order_search'].map((table) =>
        env.DB.prepare(`create virtual table ${table}_terms using fts5vocab('${table}', 'row')`),
      ),
    )
    const [person, other] = [await givenKnown(), await givenKnown()]
    const before = await terms('customer_search')
    const held = grams(person.email).filter((gram) => before.has(gram))
    expect(held).toEqual(grams(person.email))
    const countMatches = async (path: string) =>
      (await get(`${path}${encodeURIComponent(person.email)}`)).body.count as number
    expect(await countMatches(`/v1/user?organization_id=${person.organization_id}&search=`)).toBe(1)
    await post(`/v1/user/${person.id}/erase`, {})
    await finishErasures()
    expect(await countMatches(`/v1/user?organization_id=${person.organization_id}&search=`)).toBe(0)
    expect(await countMatches(`/v1/orders?organization_id=${person.organization_id}&customer_email=`)).toBe(0)
    const remainingTerms = await terms('customer_search')
    const texts = await db.all(sql<{ text: string }>`select search_text as text from users`)
    const remainingGrams = new Set(texts.flatMap(({ text }) => grams(text)))
    const isMark = (term: string) => /^\p{M}/u.test(term)
    expect([...remainingTerms].filter((term) => !remainingGrams.has(term) && !isMark(term))).toEqual([])
    expect([...before].filter((term) => !remainingTerms.has(term)).length).toBeGreaterThan(0)
    expect(grams(other.email).filter((gram) => !remainingTerms.has(gram))).toEqual([])
  })
})
