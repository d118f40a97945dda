import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import type { Statement } from '../../src/db/database.ts'
import service, { CampaignSender, WebhookSender } from '../../src/index.ts'
import { openJob } from '../../src/entry/job.ts'
import { consentRows } from './seed-consents.ts'
import { deliveryRows } from './seed-deliveries.ts'
import { dayMs, type RowsRequest, rowsPath } from './seed-rows.ts'

/** Nine of ten customers were seen within the last three months, each on another day. */
const visitStatement = ({ organization_id, seeded_at }: RowsRequest): Statement =>
  sql`update users set last_seen_at = ${seeded_at} - (users.seq * 37 % 90) * ${dayMs} - 3600000
    where organization_id = ${organization_id} and users.seq % 10 <> 0`

/** Of the demonstration data, the rows that no operation of the API makes. */
const rows = new Hono<{ Bindings: Bindings }>()

rows.post(rowsPath, async (c) => {
  const { ENVIRONMENT, ROOT_TOKEN } = c.env
  const isAllowed =
    ENVIRONMENT === 'development' && ROOT_TOKEN && c.req.header('authorization') === `Bearer ${ROOT_TOKEN}`
  if (!isAllowed) return c.body(null, 404)
  const request = await c.req.json<RowsRequest>()
  const job = openJob(c.env)
  const consents = await consentRows(job, request)
  // One transaction: consents that are there already mean that all of it is.
  if (consents !== null)
    await job.db.batch([visitStatement(request), ...consents, ...(await deliveryRows(job, request))])
  return c.json({ id: request.organization_id })
})

export { CampaignSender, WebhookSender }

export default {
  ...service,
  fetch: (request: Request, env: Bindings, context: ExecutionContext) =>
    new URL(request.url).pathname === rowsPath
      ? rows.fetch(request, env, context)
      : service.fetch(request, env, context),
} satisfies ExportedHandler<Bindings>
