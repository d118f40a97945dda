import type { JobCtx } from '../../context.ts'
import { commitPart } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import type { AnswerMethod } from '../../domain/consents.ts'
import { LostRace } from '../../domain/errors.ts'
import {
  answerAnnouncements,
  answered,
  answerRaces,
  answerStatements,
  type MarketingAnswer,
} from '../consents/index.ts'
import { addressQuery, suppress, suppressionReasonOf, takeBackUnsubscription } from '../suppressions/index.ts'
import { announceAll } from '../webhooks/index.ts'
import { givenConsents, type Subscriber, unsubscribeMethod, withdrawnConsents } from './subscription.ts'

const maxTries = 5

/** What a person answers to a consent with one click. */
interface Answer {
  status: 'given' | 'withdrawn'
  method: AnswerMethod
  expires_at: number | null
}

interface Change {
  rows: readonly MarketingAnswer[]
  answerTo: (row: MarketingAnswer) => Answer
  /** What becomes of the suppression of the address. */
  suppression: Statement
}

/** One transaction with its announcements; a LostRace when the same consent was answered meanwhile. */
async function commitChange(job: JobCtx, subscriber: Subscriber, change: Change): Promise<void> {
  const { campaign_id, language } = subscriber
  const asked = { at: job.now(), source: `campaign:${campaign_id}`, language }
  const outcomes = await Promise.all(
    change.rows.map((row) =>
      answered(job, row, { ...asked, ...change.answerTo(row), edition_id: row.before.edition_id }),
    ),
  )
  const after: (() => Promise<unknown>)[] = []
  const announcer = { ...job, afterCommit: (work: () => Promise<unknown>) => void after.push(work) }
  await commitPart(
    job,
    [
      change.suppression,
      ...answerStatements(outcomes),
      ...announceAll(announcer, outcomes.flatMap(answerAnnouncements)),
    ],
    answerRaces,
  )
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
