import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { refundReasons, refundStatuses } from '../../src/domain/refunds/refunds.ts'
import { rootToken } from '../support/api.ts'
import { walkAs } from '../support/lists.ts'
import { dearRuns } from '../support/property-runs.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

const chooseOne = (values: readonly string[]) =>
  sql.raw(`case seq % ${values.length} ${values.map((value, at) => `when ${at} then '${value}'`).join(' ')} end`)

let shop: Shop
const tokens: string[] = []
const ofShop = () => sql`organization_id = ${shop.organization_id}`
const [byOwn, byCustomer] = [
  sql`instr(search_text, 'common')`,
  sql`instr((select email from users where id = user_id), 'often')`,
]

/** Adds requests for orders, one of which has the reference `common`, like an order without this text. */
const addRequests = (number: number, orders: ReturnType<typeof sql>) =>
  write(sql`insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, user_id, target, status, source,
      reason, currency, requested_minor, provider_reference, created_at, modified_at)
    select 'rfr_' || substr(edition_id, -6) || printf('%02d%018d', ${number}, seq), organization_id, edition_id, id, 'trx_' || substr(id, 5), user_id,
      'order', ${chooseOne(refundStatuses)}, iif(seq % 2, 'api', 'admin'), ${chooseOne(refundReasons)}, 'dkk', seq % 4,
      iif(seq % 1000 = 500, 'common', null), seq % 600 * 1000, seq % 8
    from orders where ${ofShop()} and ${orders}`)

beforeAll(async () => {
  shop = await seedShop()
  await seedSearchedOrders(shop, 1, 6000)
  await addRequests(1, sql`(${byOwn} or ${byCustomer} or seq % 20 = 0)`)
  await addRequests(2, sql`${byOwn} and seq % 3 = 0`)
  const members = [undefined, shop.edition_id].map((edition) =>
    givenMember({ id: shop.organization_id }, 'viewer', edition),
  )
  tokens.push(rootToken, ...(await Promise.all(members)).map(({ token }) => token))
})

const changes = {
  status: sql`update refund_requests set status = iif(status = 'pending', 'rejected', 'pending') where`,
  amount: sql`update refund_requests set requested_minor = requested_minor * 7 % 11 where`,
  moments: sql`update refund_requests set created_at = created_at * 3 % 600000, modified_at = modified_at * 5 % 9 where`,
  reference: sql`update refund_requests set provider_reference = iif(provider_reference is null, 'common', null) where`,
  order: sql`update refund_requests set order_id = (select id from orders as other
    where other.edition_id = refund_requests.edition_id order by other.seq desc limit 1) where`,
  removal: sql`delete from refund_requests where`,
}
const isSome = (part: number) => sql`${ofShop()} and cast(substr(id, -6) as integer) % 97 = ${part}`

const step = fc.record({
  set: fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[]), 'text', 'address', 'none'),
  part: fc.nat({ max: 96 }),
  caller: fc.constantFrom(0, 0, 1, 2),
})

const list = fc.record({
  text: fc.constantFrom('common', 'often'),
  ordering: fc.constantFrom('', '&ordering=modified', '&ordering=-requested_amount', '&ordering=status,-modified'),
  filter: fc.constantFrom(
    '',
    '',
    '',
    '&status=pending',
    '&reason=other&source=api',
    '&created_before=1970-01-01T00:04:00Z',
  ),
  isOfEdition: fc.boolean(),
})

async function change({ set, part }: { set: string; part: number }): Promise<void> {
  const ofOrder = sql`${ofShop()} and seq % 97 = ${part}`
  if (set === 'text')
    await write(sql`update orders set search_text = iif(${byOwn}, 'x-', 'common-') || seq where ${ofOrder}`)
  if (set === 'address')
    await write(sql`update users set email = iif(email like 'often%', 'guest', 'often') || seq || '@example.test',
      search_text = 'ann b' || char(10) || iif(email like 'often%', 'guest', 'often') || seq || '@example.test' || char(10)
      where ${ofOrder}`)
  const one = changes[set as keyof typeof changes]
  if (one) await write(sql`${one} ${isSome(part)}`)
}

const namedRequests = async (): Promise<Set<string>> =>
  new Set(
    (
      await db.all(
        sql<{ id: string }>`select id from refund_requests where ${ofShop()} and provider_reference = 'common'`,
      )
    ).map(({ id }) => id),
  )

it('listRefundRequests finds what a comparison of all requests finds, after every change', async () => {
  await fc.assert(
    fc.asyncProperty(
      list,
      fc.array(step, { minLength: 3, maxLength: 5 }),
      async ({ text, ordering, filter, isOfEdition }, steps) => {
        for (const { caller, ...one } of steps) {
          await change(one)
          const scope = isOfEdition ? `edition_id=${shop.edition_id}` : `organization_id=${shop.organization_id}`
          const token = tokens[caller] ?? ''
          // The index has no entries of two letters. Only references have these letters, and they are found by their
          // exact value.
          const compared = `/v1/refund-requests?${scope}${ordering}${filter}&page_size=400`
          const at = `${compared}&search=${text}`
          const first = await walkAs(token, at)
          const secondWalk = await walkAs(token, at)
          expect([at, secondWalk]).toEqual([at, first])
          const named = text === 'common' ? await namedRequests() : new Set<string>()
          const short = await walkAs(token, `${compared}&search=${text.slice(0, 2)}`)
          const all = await walkAs(token, compared)
          const foundIds = new Set(short.ids)
          expect([at, first.ids]).toEqual([at, all.ids.filter((id) => foundIds.has(id) || named.has(id))])
          expect(first.count).toBe(first.ids.length)
        }
      },
    ),
    { numRuns: dearRuns(4), endOnFailure: true },
  )
})
