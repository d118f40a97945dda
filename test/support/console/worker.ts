import { sql } from 'drizzle-orm'
import service, { CampaignSender, WebhookSender } from '../../../scripts/support/seed-worker.ts'
import type { Bindings } from '../../../src/app.ts'
import { openJob } from '../../../src/entry/job.ts'
import { type ManyOrders, manyOrdersPath } from './many-orders.ts'

/** Adds orders of the customers of an edition. Each minute has one. */
async function addOrders(env: Bindings, { edition_id, first, last, start }: ManyOrders): Promise<Response> {
  await openJob(env).db.all(sql`
    with recursive numbers (i) as (select cast(${first} as integer) union all select i + 1 from numbers where i < ${last}),
      buyers (id, organization_id, place, total) as (
        select users.id, organization_id, row_number() over (order by users.seq) - 1, count(*) over ()
          from edition_customers join users on users.seq = user_seq where edition_id = ${edition_id})
    insert into orders (id, organization_id, edition_id, user_id, order_number, number_folded, number_key, type, status,
        amount_minor, currency, items_count, has_payment, cart, created_at, modified_at, search_text)
      select 'ord_' || substr(${edition_id}, 5, 16) || printf('%010d', i), organization_id, ${edition_id}, buyers.id,
        1000000 + i, 1000000 + i, '07' || (1000000 + i), 'online',
        '["completed","confirmed","pending","cancelled"]' ->> (i % 4), 100 + i * 7919 % 1000 * 100, 'dkk', 1, 1,
        '{"items":[]}', cast(${start} as integer) + i * 60000, cast(${start} as integer) + i * 60000, (1000000 + i) || char(10)
      from numbers join buyers on place = i % total`)
  return Response.json({})
}

export { CampaignSender, WebhookSender }

/** The Worker of the demonstration data, which also adds more orders than the API can take in a test. */
export default {
  ...service,
  fetch: async (request: Request, env: Bindings, context: ExecutionContext) =>
    new URL(request.url).pathname === manyOrdersPath
      ? addOrders(env, await request.json<ManyOrders>())
      : service.fetch(request, env, context),
} satisfies ExportedHandler<Bindings>
