import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { changedOne, commitPart } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { consentRecords } from '../../db/schema/consents.ts'
import { insertAll } from '../../db/write.ts'
import { recordHash } from '../../domain/consent-records.ts'
import { LostRace } from '../../domain/errors.ts'
import { toIso } from '../../domain/instants.ts'
import { addressQuery, suppress, suppressionReasonOf, takeBackUnsubscription } from '../suppressions/index.ts'
import { type Announcement, announceAll } from '../webhooks/index.ts'
import {
  type ConsentRow,
  givenConsents,
  type Subscriber,
  unsubscribeMethod,
  withdrawnConsents,
} from './subscription.ts'

const maxTries = 5

type RecordRow = ConsentRow['record']

/** What a person answers to a consent with one click. */
interface Answer {
  status: 'given' | 'withdrawn'
  method: string
  expires_at: number | null
}

async function nextRecord(job: JobCtx, subscriber: Subscriber, before: RecordRow, answer: Answer): Promise<RecordRow> {
  const record = {
    ...before,
    ...answer,
    id: job.newId('consent_record'),
    order_id: null,
    source: `campaign:${subscriber.campaign_id}`,
    language: subscriber.language,
    occurred_at: job.now(),
    previous_record_id: before.id,
    is_latest: 1,
  }
  return { ...record, record_hash: await recordHash(record, before.record_hash) }
}

const announcementOf = ({ record: before, key, email }: ConsentRow, record: RecordRow): Announcement => ({
  kind: record.status === 'given' ? 'consent.given' : 'consent.withdrawn',
  organization_id: record.organization_id,
  edition_id: record.edition_id,
  data: {
    consent: { id: record.consent_id, key, version: record.consent_version },
    user: { api_id: record.user_id, email },
    record_id: record.id,
    status: record.status === 'given' ? 'given' : 'withdrawn',
    previous_status: before.status === 'given' ? 'given' : 'withdrawn',
    occurred_at: toIso(record.occurred_at),
    expires_at: record.expires_at === null ? null : toIso(record.expires_at),
    source: record.source,
  },
})

interface Change {
  rows: readonly ConsentRow[]
  answerTo: (row: ConsentRow) => Answer
  /** What becomes of the suppression of the address. */
  suppression: Statement
}

/** One transaction with what is announced of it; whoever answered the same question meanwhile makes it a LostRace. */
async function commitChange(job: JobCtx, subscriber: Subscriber, change: Change): Promise<void> {
  const { rows, answerTo } = change
  const records = await Promise.all(rows.map((row) => nextRecord(job, subscriber, row.record, answerTo(row))))
  const after: (() => Promise<unknown>)[] = []
  const announcer = { ...job, afterCommit: (work: () => Promise<unknown>) => void after.push(work) }
  const announcements = rows.map((row, index) => announcementOf(row, records[index] ?? row.record))
  await commitPart(job, [
    change.suppression,
    ...rows.flatMap(({ record }) => [
      sql`update consent_records set is_latest = 0 where id = ${record.id} and is_latest = 1`,
      changedOne(),
    ]),
    ...insertAll(consentRecords, records),
    ...announceAll(announcer, announcements),
  ])
  // The sweep makes up for a queue message that is lost.
  await Promise.allSettled(after.map((work) => work()))
}

async function retried(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof LostRace) || tries >= maxTries) throw error
    }
}

/** No marketing goes to this address any more, and the consents that let it come are withdrawn. Doing it again changes nothing. */
export async function unsubscribe(job: JobCtx, subscriber: Subscriber): Promise<void> {
  await retried(async () => {
    await commitChange(job, subscriber, {
      rows: await givenConsents(job, subscriber),
      answerTo: () => ({ status: 'withdrawn', method: unsubscribeMethod, expires_at: null }),
      suppression: suppress(addressQuery(subscriber), {
        reason: 'unsubscribed',
        campaign_id: subscriber.campaign_id,
        at: job.now(),
      }),
    })
  })
  await countUnsubscribed(job, subscriber)
}

/**
 * Takes back what unsubscribing did: the suppression, and the consents that it withdrew, which end when they would have
 * ended. An address that is dead or has complained stays as it is. Doing it again changes nothing.
 */
export const resubscribe = (job: JobCtx, subscriber: Subscriber): Promise<void> =>
  retried(async () => {
    if ((await suppressionReasonOf(job, subscriber)) !== 'unsubscribed') return
    await commitChange(job, subscriber, {
      rows: await withdrawnConsents(job, subscriber),
      answerTo: ({ previous_expires_at }) => ({
        status: 'given',
        method: 'one_click_resubscribe',
        expires_at: previous_expires_at,
      }),
      suppression: takeBackUnsubscription(subscriber),
    })
  })

const countUnsubscribed = (job: JobCtx, { campaign_id, n }: Subscriber): Promise<void> =>
  job.doorbell.ring('campaign-events', [
    { type: 'campaign.events', campaign_id, events: [{ n, type: 'unsubscribed', at: job.now() }] },
  ])
