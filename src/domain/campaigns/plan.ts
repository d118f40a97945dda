import { type Language, parseLanguage } from '../languages.ts'
import type { SendingLimits } from '../messaging/messaging.ts'
import { hasPosition } from './conditions.ts'
import type { NewRecipient } from './sender.ts'
import { maxConcurrency, type RecipientState, type SkipReason, skipReasons } from './sending-policy.ts'

/** A person of the segment, as a start of the campaign would treat them. */
export interface PlannedPerson {
  recipient: NewRecipient
  /** The person's own language, as it is stored. */
  locale: string
  /** The state that the recipient keeps from an earlier start. */
  earlierState: RecipientState | null
  /** Counts the parts of the person's SMS. */
  countParts: () => number
}

interface LanguageCounts {
  recipients: number
  sms_parts: number
}

interface Skipped {
  people: number
  example_ids: string[]
}

/** Counts of people of the segment. */
export interface PlanCounts {
  languages: Map<Language, LanguageCounts>
  /** Recipients in the default language whose own language the edition does not have. Null: it is not known. */
  fallbacks: Map<Language | null, number>
  skipped: Map<SkipReason, Skipped>
  /** The recipients who fulfil each condition of the message's blocks, by its position. */
  conditions: number[]
  sent_before: number
  failed_before: number
}

export const createPlanCounts = (languages: Iterable<Language>, conditionCount: number): PlanCounts => ({
  languages: new Map([...languages].map((language) => [language, { recipients: 0, sms_parts: 0 }])),
  fallbacks: new Map(),
  skipped: new Map(),
  conditions: Array.from({ length: conditionCount }, () => 0),
  sent_before: 0,
  failed_before: 0,
})

const maxExamples = 3

function addSkipped(counts: PlanCounts, reason: SkipReason, userId: string): void {
  const skipped = counts.skipped.get(reason) ?? { people: 0, example_ids: [] }
  skipped.people++
  if (skipped.example_ids.length < maxExamples) skipped.example_ids.push(userId)
  counts.skipped.set(reason, skipped)
}

function addRecipient(counts: PlanCounts, { recipient, locale, countParts }: PlannedPerson): void {
  const { language } = recipient
  const languageCounts = counts.languages.get(language) ?? { recipients: 0, sms_parts: 0 }
  languageCounts.recipients++
  languageCounts.sms_parts += countParts()
  counts.languages.set(language, languageCounts)
  counts.conditions = counts.conditions.map((count, position) =>
    hasPosition(recipient.conditions, position) ? count + 1 : count,
  )
  const ownLanguage = parseLanguage(locale)
  if (ownLanguage !== language) counts.fallbacks.set(ownLanguage, (counts.fallbacks.get(ownLanguage) ?? 0) + 1)
}

/** Counts a person. Recipients of earlier starts keep their state, whatever became of them since. */
export function countPerson(counts: PlanCounts, person: PlannedPerson): void {
  const { recipient, earlierState } = person
  if (earlierState === 'sent') counts.sent_before++
  else if (earlierState === 'failed') counts.failed_before++
  else if (recipient.reason !== null && earlierState !== 'pending')
    addSkipped(counts, recipient.reason, recipient.user_id)
  else addRecipient(counts, person)
}

/** Extrapolates the counts of a sample. Sums are made of the result, so that they agree. */
export function scalePlanCounts(counts: PlanCounts, factor: number): PlanCounts {
  const scale = (count: number) => Math.round(count * factor)
  return {
    languages: new Map(
      [...counts.languages].map(([language, { recipients, sms_parts }]) => [
        language,
        { recipients: scale(recipients), sms_parts: scale(sms_parts) },
      ]),
    ),
    fallbacks: new Map([...counts.fallbacks].map(([language, people]) => [language, scale(people)])),
    skipped: new Map(
      [...counts.skipped].map(([reason, skipped]) => [reason, { ...skipped, people: scale(skipped.people) }]),
    ),
    conditions: counts.conditions.map(scale),
    sent_before: scale(counts.sent_before),
    failed_before: scale(counts.failed_before),
  }
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0)

export interface PlanTotals {
  people: number
  recipients: number
  skipped: number
  sms_parts: number
}

export function sumPlanCounts({ languages, skipped, sent_before, failed_before }: PlanCounts): PlanTotals {
  const recipients = sum([...languages.values()].map((one) => one.recipients))
  const skippedPeople = sum([...skipped.values()].map((one) => one.people))
  return {
    people: recipients + skippedPeople + sent_before + failed_before,
    recipients,
    skipped: skippedPeople,
    sms_parts: sum([...languages.values()].map((one) => one.sms_parts)),
  }
}

export const listSkipped = ({ skipped }: PlanCounts): (Skipped & { reason: SkipReason })[] =>
  skipReasons.flatMap((reason) => {
    const counts = skipped.get(reason)
    return counts ? [{ reason, ...counts }] : []
  })

/** The assumed time of a call, where the provider states no limit. */
const secondsPerCall = 0.5

export interface SendingEstimate {
  messages_per_call: number
  calls: number
  calls_per_second: number
  seconds: number
}

/** Estimates how long the calls of a campaign take, at the limits of the provider and of the campaign itself. */
export function estimateSending(
  recipients: number,
  { messagesPerCall, callsPerSecond }: SendingLimits,
): SendingEstimate {
  const calls = Math.ceil(recipients / messagesPerCall)
  const calls_per_second = Math.min(callsPerSecond ?? Number.POSITIVE_INFINITY, maxConcurrency / secondsPerCall)
  return { messages_per_call: messagesPerCall, calls, calls_per_second, seconds: Math.ceil(calls / calls_per_second) }
}
