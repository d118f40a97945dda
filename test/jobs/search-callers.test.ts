import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { rootToken } from '../support/api.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { walkAs } from '../support/lists.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { write } from '../support/seeding/rows.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'
import { refundReasons, refundStatuses } from '../../src/domain/refunds/refunds.ts'

let shop: Shop
let other: Shop
const tokens: string[] = []

const oneOf = (values: readonly string[], number: string) =>
  sql.raw(`case ${number} % ${values.length} ${values.map((one, at) => `when ${at} then '${one}'`).join(' ')} end`)

beforeAll(async () => {
  shop = await seedShop()
  const organization = { id: shop.organization_id }
  const edition = await seedEdition(organization)
  other = { ...shop, edition_id: edition.id }
  await seedSearchedOrders(shop, 1, 200)
  await seedSearchedOrders(other, 201, 320)
  const ours = sql`organization_id = ${shop.organization_id}`
  const short = (id: string) => sql`(select short_id from editions where id = ${id})`
  await write(
    // Customers of both editions: with the same data, with other data, and with none.
    sql`insert into edition_customers (edition_short_id, user_seq, created_at, email, phone_number, first_name, name_folded,
        phone_digits)
      select ${short(other.edition_id)}, seq, seq % 9 * 100, case seq % 4 when 0 then email when 1 then 'often-given' || seq || '@example.test' end,
        iif(seq % 5, null, '+45' || (20000000 + seq)), iif(seq % 7, '', 'Often'), iif(seq % 7, 'ann b', 'often'),
        iif(seq % 5, '', '45' || (20000000 + seq))
      from users where ${ours} and seq % 3 = 0 and not exists (
        select 1 from edition_customers where user_seq = seq and edition_short_id = ${short(other.edition_id)})`,
    sql`update edition_customers set email = iif(user_seq % 6 = 1, 'often-too' || user_seq || '@example.test', 'x' || user_seq || '@example.test')
      where edition_short_id = ${short(shop.edition_id)} and user_seq % 6 < 3`,
    sql`update users set last_seen_at = iif(seq % 3, null, seq % 5), created_at = seq % 11 * 10,
      phone_number = iif(seq % 4, null, '+45' || (30000000 + seq % 6)), phone_digits = iif(seq % 4, '', '45' || (30000000 + seq % 6))
      where ${ours}`,
    sql`update orders set amount_minor = seq % 5, modified_at = seq % 7, created_at = seq % 13 * 100,
      type = iif(seq % 3, 'imported', 'online'), status = iif(seq % 4, 'completed', 'cancelled'),
      number_key = iif(seq % 5, 'n' || (seq % 4), null) where ${ours}`,
    sql`update orders set search_text = 'often-' || seq, number_folded = 'often-' || seq where ${ours} and seq % 9 = 0`,
    // Some customers have several orders, one of them in the other edition.
    sql`update orders set user_id = (select id from users where ${ours} and email like 'often8@%')
      where ${ours} and seq % 17 = 0`,
    sql`insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, user_id, target, status, source,
        reason, currency, requested_minor, created_at, modified_at)
      select 'rfr_' || substr(id, 5) || n, organization_id, edition_id, id, 'trx_' || substr(id, 5), user_id, 'order',
        ${oneOf(refundStatuses, '(seq + n)')}, iif(seq % 2, 'api', 'support'), ${oneOf(refundReasons, 'seq')}, 'dkk', seq % 4, seq % 6 * 100, seq % 8
      from orders cross join (select 1 as n union all select 2) where ${ours} and seq % 2`,
  )
  const roles = [[], [shop.edition_id], [other.edition_id]].map(([edition_id]) =>
    givenMember(organization, 'viewer', edition_id),
  )
  const members = await Promise.all(roles)
  tokens.push(rootToken, ...members.map(({ token }) => token))
})

const optional = (values: readonly string[]) => fc.constantFrom('', ...values)
const orderings = (keys: readonly string[]) =>
  optional(keys.flatMap((key) => [key, `-${key}`]).map((key) => `&ordering=${key}`))

const asked = fc.oneof(
  fc.record({
    list: fc.constant('orders'),
    text: fc.constantFrom('search', 'customer_email', 'order_number'),
    ordering: orderings(['created', 'modified', 'order_number', 'status', 'type', 'amount', 'status,-amount']),
    filter: optional([
      '&status=cancelled',
      '&type=imported',
      '&status=completed&type=online',
      '&created_after=1970-01-01T00:00:00.5Z',
    ]),
  }),
  // Orders that are found by themselves, of whom the customer is compared as well.
  fc.record({
    list: fc.constant('orders'),
    text: fc.constantFrom('search', 'order_number'),
    ordering: orderings(['created', 'amount']),
    filter: fc.constantFrom('&customer_email=of', '&customer_phone=45', '&customer_phone=45&customer_email=x'),
  }),
  fc.record({
    list: fc.constant('user'),
    text: fc.constant('search'),
    ordering: orderings(['email', 'phone_number', 'date_joined', 'last_seen', 'last_seen,email']),
    filter: fc.constant(''),
  }),
  fc.record({
    list: fc.constant('refund-requests'),
    text: fc.constant('search'),
    ordering: orderings(['created', 'modified', 'requested_amount', 'status', 'status,-modified']),
    filter: optional(['&status=pending', '&reason=other', '&source=api', '&created_before=1970-01-01T00:00:00.3Z']),
  }),
)

it('finds by the index what a comparison of all rows finds, for every caller, in any order and with any filter', async () => {
  await fc.assert(
    fc.asyncProperty(
      asked,
      fc.nat(3),
      fc.constantFrom('edition', 'other', 'organization'),
      async ({ list, text, ordering, filter }, caller, scope) => {
        const token = tokens[caller] ?? ''
        const place =
          scope === 'organization'
            ? `organization_id=${shop.organization_id}`
            : `edition_id=${(scope === 'other' ? other : shop).edition_id}`
        // Two letters are not looked up in the index. No other text has them.
        const [few, all] = ['oft', 'of'].map((word) => `/v1/${list}?${place}${ordering}${filter}&${text}=${word}`)
        const found = await walkAs(token, `${few}&page_size=7`)
        const compared = await walkAs(token, `${all}&page_size=100`)
        expect([few, found.count, found.ids]).toEqual([few, compared.count, compared.ids])
      },
    ),
    {
      numRuns: dearRuns(150, 50),
      endOnFailure: true,
      // A role of an edition sees when a customer of that edition alone joined it, which is not when the organisation got them.
      examples: [[{ list: 'user', text: 'search', ordering: '&ordering=-date_joined', filter: '' }, 2, 'edition']],
    },
  )
})
