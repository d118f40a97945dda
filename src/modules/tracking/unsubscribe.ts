import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { changedOne, commitPart } from '../../db/commit.ts'
import { consentRecords } from '../../db/schema/consents.ts'
import { contactSeenInEdition } from '../../db/shared-customers.ts'
import { insertAll } from '../../db/write.ts'
import { recordHash } from '../../domain/consent-records.ts'
import { LostRace } from '../../domain/errors.ts'
import { toIso } from '../../domain/instants.ts'
import { type Announcement, announceAll } from '../webhooks/index.ts'
import { suppression } from './suppress.ts'

interface Home {
  organization_id: string
  edition_id: string
  channel: 'email' | 'sms'
}

type RecordRow = typeof consentRecords.$inferSelect
type GivenRow = RecordRow & { key: string; email: string | null }

export interface Leaving {
  campaign_id: string
  n: number
  user_id: string
  address: string
  language: string
}

const maxTries = 5

/** Consents to marketing through the campaign's channel that this person has given, in its edition or everywhere. */
const givenBy = ({ db }: JobCtx, userId: string, { organization_id, edition_id, channel }: Home): Promise<GivenRow[]> =>
  db.all(
    sql<GivenRow>`select r.*, consents.key,
        ${contactSeenInEdition(sql`users`, 'email', sql`r.edition_id`)} as email from consent_records r
      join consents on consents.id = r.consent_id join users on users.id = r.user_id
      where r.user_id = ${userId} and r.is_latest = 1 and r.status = 'given'
        and r.organization_id = ${organization_id} and consents.type = 'marketing'
        and (consents.edition_id is null or consents.edition_id = ${edition_id})
        and exists (select 1 from json_each(consents.channels) where value = ${channel})`,
  )

async function withdrawalOf(job: JobCtx, given: GivenRow, leaving: Leaving): Promise<RecordRow> {
  const { key: _key, email: _email, ...before } = given
  const record = {
    ...before,
    id: job.newId('consent_record'),
    order_id: null,
    status: 'withdrawn',
    method: 'one_click_unsubscribe',
    source: `campaign:${leaving.campaign_id}`,
    language: leaving.language,
    occurred_at: job.now(),
    expires_at: null,
    previous_record_id: given.id,
    is_latest: 1,
  }
  return { ...record, record_hash: await recordHash(record, given.record_hash) }
}

const announcementOf = (given: GivenRow, record: RecordRow): Announcement => ({
  kind: 'consent.withdrawn',
  organization_id: record.organization_id,
  edition_id: record.edition_id,
  data: {
    consent: { id: record.consent_id, key: given.key, version: record.consent_version },
    user: { api_id: record.user_id, email: given.email },
    record_id: record.id,
    status: 'withdrawn',
    previous_status: 'given',
    occurred_at: toIso(record.occurred_at),
    expires_at: null,
    source: record.source,
  },
})

/**
 * Nothing more goes to this address, and the consents that let it come are withdrawn: one transaction with what tells
 * of it. Doing it again changes nothing.
 */
export async function unsubscribe(job: JobCtx, leaving: Leaving, tries = 1): Promise<void> {
  const home = await job.db.first(
    sql<Home>`select organization_id, edition_id, channel from campaigns where id = ${leaving.campaign_id}`,
  )
  if (!home) return
  const given = await givenBy(job, leaving.user_id, home)
  const records = await Promise.all(given.map((row) => withdrawalOf(job, row, leaving)))
  const after: (() => Promise<unknown>)[] = []
  const teller = { ...job, afterCommit: (work: () => Promise<unknown>) => void after.push(work) }
  const announcements = given.map((row, index) => announcementOf(row, records[index] ?? row))
  try {
    await commitPart(job, [
      suppression({ ...home, ...leaving, reason: 'unsubscribed', detail: '', at: job.now() }),
      ...given.flatMap(({ id }) => [
        sql`update consent_records set is_latest = 0 where id = ${id} and is_latest = 1`,
        changedOne(),
      ]),
      ...insertAll(consentRecords, records),
      ...announceAll(teller, announcements),
    ])
  } catch (error) {
    // Somebody answered the same question meanwhile.
    if (error instanceof LostRace && tries < maxTries) return unsubscribe(job, leaving, tries + 1)
    throw error
  }
  await tellObject(job, leaving)
  // A bell that is not heard is made up for by the sweep.
  await Promise.allSettled(after.map((work) => work()))
}

const tellObject = (job: JobCtx, { campaign_id, n }: Leaving): Promise<void> =>
  job.doorbell.ring('campaign-events', [
    { type: 'campaign.events', campaign_id, events: [{ n, type: 'unsubscribed', at: job.now() }] },
  ])
