import { type SQL, sql } from 'drizzle-orm'
import { write } from './rows.ts'
import type { Shop } from './sales/orders.ts'

/** Prefixes of ids by number; those of two shops differ. */
const buildId = (prefix: string, shop: Shop): SQL =>
  sql`${prefix} || substr(${shop.edition_id}, -6) || printf('%08d', n)`

/** Numbers up to the first of 40 blocks, each with one order that has the rare text. */
const rareBlocks = 40
const blockLength = 50

/**
 * Seeds orders number `from` up to `to`, each of its own customer, one second apart. Forty of the first 2,000 are found
 * by `rare`, every eighth by `common`, and as many customers by `seldom` and `often`.
 */
export async function seedSearchedOrders(shop: Shop, from: number, to: number): Promise<void> {
  // A bound number is not an integer: as text it would end with `.0`.
  const numbers = sql`with recursive numbers (n) as (select cast(${from} as integer) union all select n + 1 from numbers where n < ${to})`
  const isRare = sql`(n <= ${rareBlocks * blockLength} and n % ${blockLength} = 0)`
  const number = sql`iif(${isRare}, 'rare-', iif(n % 8 = 0, 'common-', 'n-')) || n`
  const email = sql`iif(${isRare}, 'seldom', iif(n % 8 = 0, 'often', 'guest')) || n || '@example.test'`
  const ownTexts = sql`${number} || char(10) || lower(${buildId('ord_', shop)})`
  await write(
    sql`${numbers} insert into users (id, organization_id, email, locale, msg_channel, search_text,
        created_at, modified_at)
      select ${buildId('usr_', shop)}, ${shop.organization_id}, ${email}, 'en', 'email',
        'ann b' || char(10) || ${email} || char(10), n * 1000, 1 from numbers`,
    sql`${numbers} insert into edition_customers (edition_id, user_seq, created_at, email, locale, search_text)
      select ${shop.edition_id}, users.seq, n * 1000, ${email}, 'en', 'ann b' || char(10) || ${email} || char(10)
      from numbers join users on users.id = ${buildId('usr_', shop)}`,
    sql`${numbers} insert into orders (id, organization_id, edition_id, user_id, order_number, type, status, amount_minor,
        currency, items_count, has_payment, cart, number_folded, search_text, created_at, modified_at)
      select ${buildId('ord_', shop)}, ${shop.organization_id}, ${shop.edition_id}, ${buildId('usr_', shop)}, ${number},
        'imported', iif(n % 4 = 0, 'pending', 'completed'), 100, 'dkk', 1, 1,
        json_object('id', ${buildId('crt_', shop)}), ${number}, ${ownTexts},
        n * 1000, n * 1000 from numbers`,
    sql`${numbers} insert into transactions (id, order_id, type, status, service, amount_minor, currency, service_fee_minor,
        handling_fee_minor, created_at)
      select ${buildId('trx_', shop)}, ${buildId('ord_', shop)}, 'payment', 'captured', 'import', 100, 'dkk', 0, 0, n * 1000
      from numbers`,
  )
}
