import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { idsOf, readAs, walkAs } from '../support/lists.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

/** Rows that a page may read once its search is known. */
const most = 600

describe('what a frequent text finds', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await seedShop()
    await seedSearchedOrders(shop, 1, 6000)
  })

  const costs = async (address: string) => {
    const reply = await readAs(rootToken, address)
    return { rows: costOf(reply).rows_read, ids: idsOf(reply), next: reply.body.next as string | null }
  }

  it.each([
    ['/v1/orders?search=common&ordering=order_number&page_size=50', 50],
    ['/v1/orders?search=common&page_size=50', 50],
    ['/v1/orders?search=common&ordering=modified&page_size=50', 50],
    ['/v1/orders?search=common&ordering=-amount&page_size=50', 50],
    ['/v1/user?search=often&ordering=-email', 100],
  ] as const)('is read by few rows on each page, once it was found in this state: %s', async (search, size) => {
    for (const scope of [`edition_id=${shop.edition_id}`, `organization_id=${shop.organization_id}`]) {
      const at = `${search}&${scope}`
      const walked = await walkAs(rootToken, at)
      expect([at, walked.ids.length > 600, new Set(walked.ids).size]).toEqual([at, true, walked.count])
      await vi.waitUntil(async () => (await costs(at)).rows <= most)
      expect([at, (await walkAs(rootToken, at)).ids]).toEqual([at, walked.ids])
      let next: string | null = at
      for (const page of [1, 2, 3, Math.ceil(walked.count / size)]) {
        const numbered = await costs(`${at}&page=${page}`)
        expect([at, page, numbered.ids]).toEqual([at, page, walked.ids.slice(size * (page - 1), size * page)])
        expect([at, page, Math.max(numbered.rows, most)]).toEqual([at, page, most])
        if (next === null || page > 3) continue
        const linked = await costs(next)
        expect([at, page, Math.max(linked.rows, most)]).toEqual([at, page, most])
        next = linked.next
      }
      expect((await readAs(rootToken, `${at}&page=${Math.ceil(walked.count / size) + 1}`)).status).toBe(404)
    }
  })

  it('has the present order, and what comes after a row that has moved since the page before', async () => {
    for (const ordering of ['created', 'modified', 'amount']) {
      const at = `/v1/orders?edition_id=${shop.edition_id}&search=common&ordering=${ordering}&page_size=50`
      const before = await walkAs(rootToken, at)
      const first = await readAs(rootToken, at)
      const column = ordering === 'amount' ? 'amount_minor' : `${ordering}_at`
      const [was] = await db.all(
        sql<{ at: number }>`select ${sql.raw(column)} as at from orders where id = ${before.ids[49]}`,
      )
      const give = (value: number) =>
        write(sql`update orders set ${sql.raw(column)} = ${value} where id = ${before.ids[49]}`)
      await give(Date.UTC(2031, 0, 1))
      const moved = [...before.ids.filter((id) => id !== before.ids[49]), before.ids[49]]
      expect([ordering, (await walkAs(rootToken, at)).ids]).toEqual([ordering, moved])
      expect([ordering, idsOf(await readAs(rootToken, first.body.next ?? ''))]).toEqual([ordering, moved.slice(49, 99)])
      await give(was?.at ?? 0)
    }
  })

  it('is another for each customer who is changed, comes or goes', async () => {
    const at = `/v1/user?organization_id=${shop.organization_id}&search=often`
    const count = async () => {
      await readAs(rootToken, at)
      return (await readAs(rootToken, at)).body.count as number
    }
    const before = await count()
    const one = sql`id = (select min(id) from users where organization_id = ${shop.organization_id} and instr(search, 'often'))`
    await write(sql`update users set search = 'nobody', email = 'nobody@example.test', email_folded = '' where ${one}`)
    expect(await count()).toBe(before - 1)
    await write(
      sql`update users set search = 'often', email = 'often@example.test' where organization_id = ${shop.organization_id} and search = 'nobody'`,
    )
    expect(await count()).toBe(before)
  })
})
