import type { DatabaseSync } from 'node:sqlite'

/** An endpoint with a delivery for each order. Every other is of the edition. */
export const endpointId = 'whk_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'

const digits = "'0123456789ABCDEFGHJKMNPQRSTVWXYZ'"

/** The ten digits of a moment that begin an id. */
const timeDigits = (moment: string): string =>
  Array.from({ length: 10 }, (_, index) => `substr(${digits}, 1 + (${moment} >> ${5 * (9 - index)} & 31), 1)`).join(
    ' || ',
  )

/** Moments of rows that are spread over the last days, the newest of them an hour ago. `numbered` has their numbers. */
const spread = (days: number): string =>
  `cast(unixepoch() * 1000 - 3600000 - numbered.i * (${days * 86_400_000} / numbered.total) as integer)`

/** What brings moments of the past, in which bought things may be spread over more time than there was, up to an hour ago. */
const soonerBy = `max(0, (select max(created_at) from purchases) - unixepoch() * 1000 + 3600000)`

const numbered = `select *, row_number() over (order by seq) as i, count(*) over () as total from orders`

/** What a shop with many orders has beside them: requests of refunds, deliveries of webhooks, and its audit log. */
export function addNeighbours(database: DatabaseSync): void {
  if (database.prepare('select 1 from webhook_endpoints where id = ?').get(endpointId)) return
  database.exec(`begin;
    update users set created_at = created_at - 1200000;
    update orders set modified_at = modified_at - 1200000 where modified_at > (unixepoch() - 1200) * 1000;
    insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, purchase_id, user_id, target,
        status, source, reason, currency, requested_minor, created_at, modified_at)
      select 'rfr_' || substr(p.id, 5), e.organization_id, p.edition_id, p.order_id, t.id, p.id, p.user_id, 'purchase',
        iif(p.created_at / 60000 % 3, 'rejected', 'cancelled'), iif(p.created_at / 60000 % 28, 'api', 'customer'),
        iif(p.created_at / 60000 % 400, 'customer_request', 'fraud'), t.currency, p.price_minor,
        p.created_at - ${soonerBy}, p.modified_at - ${soonerBy}
      from purchases p join transactions t on t.order_id = p.order_id join editions e on e.id = p.edition_id where p.created_at / 60000 % 4 = 0;
    insert into webhook_endpoints (id, organization_id, name, url, events, is_active, secret, created_at, modified_at)
      select '${endpointId}', id, 'Warehouse', 'https://hooks.example.com/', '["purchase.action"]', 0, 'whsec_', 1, 1
      from organizations limit 1;
    insert into webhook_events (id, organization_id, edition_id, kind, payload, created_at)
      select 'evn_' || substr(id, 5), organization_id, iif(numbered.i % 2, edition_id, null), 'purchase.action', '{}', ${spread(89)}
      from (${numbered}) as numbered;
    insert into webhook_deliveries (id, endpoint_id, event_id, edition_id, kind, status, attempts, created_at, modified_at)
      select 'whd_' || substr(id, 5), '${endpointId}', id, edition_id, kind, iif(unicode(substr(id, -1)) % 9, 'success', 'exhausted'),
        1, created_at, created_at
      from webhook_events;
    insert into audit_log (organization_id, id, edition_id, action, actor_id, resource_type, resource_id, changes,
        request_id, created_at)
      select organization_id, 'aud_' || ${timeDigits(spread(399))} || substr(id, -16), edition_id,
        iif(i % 5000 = 7, 'deleteSegment', 'update' || iif(i % 2, 'Order', 'Edition')), iif(i % 3, 'root', 'usr_' || (i % 5)),
        iif(i % 5000 = 7, 'segment', iif(i % 2, 'order', 'edition')),
        iif(i % 5000 = 7, 'seg_' || i, iif(i % 2, id, edition_id)), '[]', 'req_1', ${spread(399)}
      from (${numbered}) as numbered;
    commit; pragma wal_checkpoint(truncate)`)
}

/**
 * Numbers of rows that have a text of their own: `own-101-` in the external id of an order, `mail-101-` in the address of a
 * customer, `both-101-` in both, `paid-101-` in the address where the order has a refund request, and `code-101-` as the
 * beginning of the code of a purchase.
 */
export const rareTexts = [101, 440, 499] as const

/** Gives so many rows, spread over all, each of these texts. Each of the customers has one order. */
export function addRareTexts(database: DatabaseSync): void {
  const isDone = database.prepare("select 1 from purchases where vendor_code like 'code-%'").get()
  if (isDone) return
  const spreadOver = (table: string, condition: string, count: number) =>
    `seq in (select seq from ${table} where ${condition} order by seq * 7919 % 100003, seq limit ${count})`
  const bought = '(select count(*) from orders where user_id = users.id)'
  const requests =
    '(select count(*) from orders join refund_requests on order_id = orders.id where orders.user_id = users.id)'
  const hasOwn = "(select count(*) from orders where user_id = users.id and external_id like 'own-%')"
  const isPlain = "email not like 'mail-%' and email not like 'both-%' and email not like 'paid-%'"
  const addressed = (text: string, condition: string, count: number) =>
    `update users set email = '${text}-${count}-' || seq || '@example.com',
      search_text = char(10) || '${text}-${count}-' || seq || '@example.com' || char(10)
      where ${spreadOver('users', `${isPlain} and ${condition}`, count)}`
  const statements = rareTexts.flatMap((count) => [
    `update orders set external_id = 'own-${count}-' || seq
      where ${spreadOver('orders', "external_id not like 'own-%' and external_id not like 'both-%'", count)}`,
    addressed('mail', `${bought} = 1 and ${requests} <> 1`, count),
    addressed('paid', `${bought} = 1 and ${requests} = 1`, count),
    addressed('both', `${bought} = 1 and ${requests} = 0 and ${hasOwn} = 0`, count),
    `update orders set external_id = 'both-${count}-' || seq
      where user_id in (select id from users where email like 'both-${count}-%')`,
    `update purchases set vendor_code = 'code-${count}-' || substr(id, -16) where id in (
      select id from purchases where coalesce(vendor_code, '') not like 'code-%' order by substr(id, -12) limit ${count})`,
  ])
  database.exec(`begin; ${statements.join('; ')};
    update orders set search_text = search_text || char(10) || external_id
      where external_id like 'own-%' or external_id like 'both-%';
    commit; pragma wal_checkpoint(truncate)`)
}

const orderings = (keys: readonly string[]) => keys.map((key) => `&ordering=${key}`)

/** Searches for these texts, without their numbers, and what else is asked for. */
export function rareSearches({ edition_id, organization_id }: { edition_id: string; organization_id: string }) {
  const ofEdition = `edition_id=${edition_id}`
  const lists = [ofEdition, `organization_id=${organization_id}`].flatMap((scope) => [
    {
      path: `/v1/orders?${scope}`,
      searches: ['search=own-', 'search=mail-', 'customer_email=mail-'],
      others: [
        ...orderings(['created', '-order_number', 'amount']),
        '&status=completed',
        '&type=imported&ordering=modified',
      ],
    },
    {
      path: `/v1/user?${scope}`,
      searches: ['search=mail-'],
      others: orderings(['email', '-last_seen', 'phone_number']),
    },
    {
      path: `/v1/refund-requests?${scope}`,
      searches: ['search=paid-'],
      others: [...orderings(['status', '-requested_amount', 'modified']), '&status=rejected', '&source=api'],
    },
  ])
  const purchases = {
    path: `/v1/purchases?${ofEdition}`,
    searches: ['search=code-'],
    others: ['&ordering=created', '&status=pending', '&status=active'],
  }
  return [...lists, purchases].flatMap(({ path, searches, others }) =>
    searches.map((search) => ({ list: `${path}&page_size=50`, search, others: ['', ...others] })),
  )
}
