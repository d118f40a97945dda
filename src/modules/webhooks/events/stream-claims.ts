import { eq, or, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { claimUntil, isClaimed } from '../../../db/claims.ts'
import { webhookStreams } from '../../../db/schema/webhooks.ts'
import { selectValues } from '../../../db/select.ts'
import { insertWhere, remove } from '../../../db/write.ts'
import { AppError } from '../../../domain/errors.ts'

const maxStreamsPerHolder = 3
const maxStreamsPerOrganization = 10

/** A stream that crashed counts for this long. An open one renews its claim more often. */
const claimMs = 40_000
export const renewAfterMs = 15_000

export interface StreamClaim {
  holder_id: string
  id: string
}

const tooManyStreams = (detail: string): AppError =>
  new AppError('too_many_streams', detail, { headers: { 'retry-after': String(claimMs / 1000) } })

/**
 * Claims one of the streams that a token and its organization can have. The rows are in the database, which runs one
 * transaction at a time, so the limits are exact however many Workers serve streams.
 */
export async function claimStream(job: JobCtx, holder_id: string, organization_id: string): Promise<StreamClaim> {
  const now = job.now()
  const claim = { holder_id, id: job.newId('request') }
  const isOfHolder = eq(webhookStreams.holder_id, holder_id)
  const isOfOrganization = eq(webhookStreams.organization_id, organization_id)
  const ofHolder = sql<number>`(select count(*) from ${webhookStreams} where ${isOfHolder})`
  const ofOrganization = sql<number>`(select count(*) from ${webhookStreams} where ${isOfOrganization})`
  const hasRoom = sql`${ofHolder} < ${maxStreamsPerHolder} and ${ofOrganization} < ${maxStreamsPerOrganization}`
  const row = { ...claim, organization_id, claimed_until: now + claimMs }
  const [, , [counts], claims] = await job.db.batch([
    remove(webhookStreams, sql`(${or(isOfHolder, isOfOrganization)}) and not ${isClaimed(now)}`),
    insertWhere(webhookStreams, row, hasRoom),
    selectValues({ ofHolder, ofOrganization }),
    sql<{ id: string }>`select id from webhook_streams where holder_id = ${holder_id} and id = ${claim.id}`,
  ])
  if (claims.length > 0) return claim
  throw tooManyStreams(
    (counts?.ofHolder ?? 0) >= maxStreamsPerHolder
      ? 'This token has three streams of events. Close one of them first.'
      : 'This organisation has ten streams of events. Close one of them first.',
  )
}

/** Returns false if the claim has ended. Another stream may have taken its place. */
export async function renewClaim(job: JobCtx, { holder_id, id }: StreamClaim): Promise<boolean> {
  const now = job.now()
  const rows = await job.db.all(sql`update webhook_streams set ${claimUntil(now, claimMs)}
    where holder_id = ${holder_id} and id = ${id} and ${isClaimed(now)} returning id`)
  return rows.length > 0
}

export async function endClaim({ db }: JobCtx, { holder_id, id }: StreamClaim): Promise<void> {
  await db.batch([remove(webhookStreams, sql`holder_id = ${holder_id} and id = ${id}`)])
}
