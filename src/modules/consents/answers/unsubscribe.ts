import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import type { AnswerMethod } from '../../../domain/consents/consents.ts'
import type { Language } from '../../../domain/languages.ts'
import { addressQuery, suppress, suppressionReasonOf, takeBackUnsubscription } from '../../suppressions/index.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import { marketingAnswers, type MarketingAnswer, type MarketingRecipient } from './marketing-answers.ts'
import { answerAnnouncements, answered, answerRaces, answerStatements } from './records.ts'

/** A recipient of a campaign who unsubscribes from marketing to an address, or subscribes again. */
export interface CampaignSubscriber extends MarketingRecipient {
  campaign_id: string
  address: string
  language: Language
}

const unsubscribeMethod = 'one_click_unsubscribe'

/** The consents that unsubscribing withdraws. */
export const givenConsents = (job: JobCtx, subscriber: CampaignSubscriber): Promise<MarketingAnswer[]> =>
  marketingAnswers(job, subscriber, { status: 'given' })

/** The consents that unsubscribing has withdrawn, if that is still their latest answer. */
export const withdrawnConsents = (job: JobCtx, subscriber: CampaignSubscriber): Promise<MarketingAnswer[]> =>
  marketingAnswers(job, subscriber, { status: 'withdrawn', method: unsubscribeMethod })

/** The answer to each consent, given with one click. */
interface OneClickAnswer {
  status: 'given' | 'withdrawn'
  method: AnswerMethod
  expires_at: number | null
}

interface SubscriptionChange {
  rows: readonly MarketingAnswer[]
  answerTo: (row: MarketingAnswer) => OneClickAnswer
  /** Changes the suppression of the address. */
  suppression: Statement
}

/** One transaction with its announcements; a LostRace when the same consent was answered meanwhile. */
async function commitChange(job: JobCtx, subscriber: CampaignSubscriber, change: SubscriptionChange): Promise<void> {
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

/** Suppresses marketing to the address and withdraws the consents to it. A second call changes nothing. */
export const unsubscribe = (job: JobCtx, subscriber: CampaignSubscriber): Promise<void> =>
  retryLostRaces(async () => {
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

/**
 * Takes back the suppression and the withdrawals of `unsubscribe`. The consents expire when they would have expired
 * without it. An address that bounced or complained stays suppressed. A second call changes nothing.
 */
export const resubscribe = (job: JobCtx, subscriber: CampaignSubscriber): Promise<void> =>
  retryLostRaces(async () => {
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
