import type { JobCtx } from '../../context.ts'
import { decideAgain } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import type { AnswerMethod } from '../../domain/consents.ts'
import {
  answerAnnouncements,
  answered,
  answerRaces,
  answerStatements,
  type MarketingAnswer,
} from '../consents/index.ts'
import { addressQuery, suppress, suppressionReasonOf, takeBackUnsubscription } from '../suppressions/index.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import { givenConsents, type Subscriber, unsubscribeMethod, withdrawnConsents } from './subscription.ts'

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
  const statements = [change.suppression, ...answerStatements(outcomes)]
  await commitAnnounced(job, statements, outcomes.flatMap(answerAnnouncements), answerRaces)
}

/** No marketing goes to this address any more, and the consents that let it come are withdrawn. Doing it again changes nothing. */
export async function unsubscribe(job: JobCtx, subscriber: Subscriber): Promise<void> {
  await decideAgain(async () => {
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
  decideAgain(async () => {
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
  job.jobQueue.enqueue('campaign-events', [
    { type: 'campaign.events', campaign_id, events: [{ n, type: 'unsubscribed', at: job.now() }] },
  ])
