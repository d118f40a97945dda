import type { DatabaseSync } from 'node:sqlite'

/** An endpoint with a delivery for each order. */
export const endpointId = 'whk_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'

/** What a shop with many orders has beside them: requests of refunds, deliveries of webhooks, and its audit log. */
export function addNeighbours(database: DatabaseSync): void {
  if (database.prepare('select 1 from webhook_endpoints where id = ?').get(endpointId)) return
  database.exec(`begin;
    insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, purchase_id, user_id, target,
        status, source, reason, currency, requested_minor, created_at, modified_at)
      select 'rfr_' || substr(p.id, 5), p.organization_id, p.edition_id, p.order_id, t.id, p.id, p.user_id, 'purchase',
        iif(p.created_at / 60000 % 3, 'rejected', 'cancelled'), 'api', 'customer_request', t.currency, p.price_minor,
        p.created_at, p.modified_at
      from purchases p join transactions t on t.order_id = p.order_id where p.created_at / 60000 % 4 = 0;
    insert into webhook_endpoints (id, organization_id, name, url, events, is_active, secret, created_at, modified_at)
      select '${endpointId}', id, 'Warehouse', 'https://hooks.example.com/', '["purchase.action"]', 0, 'whsec_', 1, 1
      from organizations limit 1;
    insert into webhook_events (id, organization_id, edition_id, kind, payload, created_at)
      select 'evn_' || substr(id, 5), organization_id, edition_id, 'purchase.action', '{}', created_at from orders;
    insert into webhook_deliveries (id, endpoint_id, event_id, kind, status, attempts, created_at, modified_at)
      select 'whd_' || substr(id, 5), '${endpointId}', id, kind, 'success', 1, created_at, created_at
      from webhook_events;
    insert into audit_log (organization_id, id, edition_id, action, actor_id, changes, request_id, created_at)
      select organization_id, 'aud_' || substr(id, 5), edition_id, 'updateOrder', 'root', '[]', 'req_1', created_at
      from orders;
    commit; pragma wal_checkpoint(truncate)`)
}
