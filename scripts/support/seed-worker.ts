import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import type { CampaignEventsMessage } from '../../src/context.ts'
import type { Statement } from '../../src/db/database.ts'
import { openJob } from '../../src/entry/job.ts'
import service, { CampaignSender, WebhookSender } from '../../src/index.ts'
import { buildConsentRows } from './seed-consents.ts'
import { buildDeliveryRows } from './seed-deliveries.ts'
import { dayMs, type RowsRequest, rowsPath, visitsPath } from './seed-rows.ts'

/** Nine of ten customers were seen within the last three months, on different days. */
const visitStatement = ({ organization_id, seeded_at }: RowsRequest): Statement =>
  sql`update users set last_seen_at = ${seeded_at} - (users.seq * 37 % 90) * ${dayMs} - 3600000
    where organization_id = ${organization_id} and users.seq % 10 <> 0`

/** Builds the demonstration rows that no operation of the API creates. */
const rows = new Hono<{ Bindings: Bindings }>()

rows.use('*', async (c, next) => {
  const { ENVIRONMENT, ROOT_TOKEN } = c.env
  const isAllowed =
    ENVIRONMENT === 'development' && ROOT_TOKEN && c.req.header('authorization') === `Bearer ${ROOT_TOKEN}`
  return isAllowed ? next() : c.body(null, 404)
})

rows.post(rowsPath, async (c) => {
  const request = await c.req.json<RowsRequest>()
  const job = openJob(c.env)
  const consents = await buildConsentRows(job, request)
  // All rows are written in one transaction, so if the consents exist, everything exists.
  if (consents !== null)
    await job.db.batch([visitStatement(request), ...consents, ...(await buildDeliveryRows(job, request))])
  return c.json({ id: request.organization_id })
})

rows.post(visitsPath, async (c) => {
  const message = await c.req.json<CampaignEventsMessage>()
  await openJob(c.env).jobQueue.enqueue('campaign-events', [message])
  return c.json({ id: message.campaign_id })
})

export { CampaignSender, WebhookSender }

export default {
  ...service,
  fetch: (request: Request, env: Bindings, context: ExecutionContext) =>
    [rowsPath, visitsPath].includes(new URL(request.url).pathname)
      ? rows.fetch(request, env, context)
      : service.fetch(request, env, context),
} satisfies ExportedHandler<Bindings>
