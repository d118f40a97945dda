import type { DatabaseSync } from 'node:sqlite'

/** An endpoint with a delivery for each order. */
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
        p.created_at, p.modified_at
      from purchases p join transactions t on t.order_id = p.order_id join editions e on e.id = p.edition_id where p.created_at / 60000 % 4 = 0;
    insert into webhook_endpoints (id, organization_id, name, url, events, is_active, secret, created_at, modified_at)
      select '${endpointId}', id, 'Warehouse', 'https://hooks.example.com/', '["purchase.action"]', 0, 'whsec_', 1, 1
      from organizations limit 1;
    insert into webhook_events (id, organization_id, edition_id, kind, payload, created_at)
      select 'evn_' || substr(id, 5), organization_id, edition_id, 'purchase.action', '{}', ${spread(89)}
      from (${numbered}) as numbered;
    insert into webhook_deliveries (id, endpoint_id, event_id, kind, status, attempts, created_at, modified_at)
      select 'whd_' || substr(id, 5), '${endpointId}', id, kind, iif(unicode(substr(id, -1)) % 9, 'success', 'exhausted'),
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

/** Numbers of orders and customers that have a text of their own: `own-101-` in the external id, `mail-101-` in the address. */
export const rareTexts = [101, 440, 499] as const

/** Gives so many rows, spread over all, each of these texts. Each of the customers has one order. */
export function addRareTexts(database: DatabaseSync): void {
  const spreadOver = (table: string, condition: string, count: number) =>
    `seq in (select seq from ${table} where ${condition} order by seq * 7919 % 100003, seq limit ${count})`
  const bought = '(select count(*) from orders where user_id = users.id)'
  const statements = rareTexts.flatMap((count) => [
    `update orders set external_id = 'own-${count}-' || seq
      where ${spreadOver('orders', "external_id not like 'own-%'", count)}`,
    `update users set email = 'mail-${count}-' || seq || '@example.com'
      where ${spreadOver('users', `email not like 'mail-%' and ${bought} = 1`, count)}`,
  ])
  const isDone = database.prepare("select 1 from users where email like 'mail-%'").get()
  if (isDone) return
  database.exec(`begin; ${statements.join('; ')};
    update orders set search = (select address_folded from users where id = user_id)
      where user_id in (select id from users where email like 'mail-%');
    commit; pragma wal_checkpoint(truncate)`)
}
