import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { type ConsentScope, selectDefinitionId, hasStatus, isCurrentConsent, isShadowed } from '../../../db/consents.ts'
import type { Statement } from '../../../db/database.ts'
import { consentRecords } from '../../../db/schema/consents.ts'
import { inList } from '../../../db/visibility.ts'
import { update } from '../../../db/write.ts'
import type { AnswerState } from '../../../domain/consents/consents.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'

/** Where marketing is meant to go from, and through which channel. */
export interface MarketingScope {
  organization_id: string
  edition_id: string | null
  /** Where no edition is named, those that are seen; all of the organisation without them. */
  editions?: readonly string[]
  channel: Channel
}

/** Holds for definitions of the organisation itself and of the visible editions. */
const isDefinedThere = ({ edition_id, editions }: MarketingScope): SQL => {
  if (edition_id !== null)
    return sql`and (edition_id is null or edition_id = ${edition_id})
      and not ${isShadowed(sql`consents`, sql`${edition_id}`)}`
  return editions === undefined ? sql`` : sql`and (edition_id is null or ${inList(sql`edition_id`, editions)})`
}

/**
 * Definitions by which a person agrees to marketing through this channel. An answer to the organisation's own counts in
 * all of its editions, wherever it was given: a person who withdrew it in one gets nothing from the others.
 */
const definitions = (scope: MarketingScope): SQL =>
  sql`select id from consents where organization_id = ${scope.organization_id} and type = 'marketing'
    ${isDefinedThere(scope)}
    and exists (select 1 from json_each(channels) where value = ${scope.channel})`

const isGiven = (now: number): SQL => sql`exists (select 1 from consents c where c.id = r.consent_id
  and ${isCurrentConsent(sql`r`, sql`c`, now)})`

const answers = (user: SQL, scope: MarketingScope): SQL =>
  sql`from consent_records r where r.user_id = ${user} and r.is_latest = 1 and r.consent_id in (${definitions(scope)})`

const bestFirst = (now: number): SQL =>
  sql`order by case when ${isGiven(now)} then 0 when ${hasStatus(sql`r`, 'withdrawn')} then 1 else 2 end, r.occurred_at desc
    limit 1`

/**
 * The person's answer to marketing: the best of all answers, or `none`. A consent that is over or outdated is
 * `expired`.
 */
export const marketingStatus = (user: SQL, scope: MarketingScope, now: number): SQL =>
  sql`coalesce((select case when ${isGiven(now)} then 'given' when ${hasStatus(sql`r`, 'given')} then 'expired' else r.status end
    ${answers(user, scope)} ${bestFirst(now)}), 'none')`

/** An answer that something was decided by. */
export interface DecidingAnswer {
  key: string
  consent_id: string
  /** Null before the first answer. */
  record_id: string | null
  status: AnswerState
  is_current: boolean
}

const deciding = (now: number): SQL =>
  sql`json_object('key', d.key, 'consent_id', d.id, 'record_id', r.id, 'status', coalesce(r.status, 'none'),
    'is_current', json(iif(r.id is not null and ${isCurrentConsent(sql`r`, sql`d`, now)}, 'true', 'false')))`

/** The answer that decides about marketing to a person, a `DecidingAnswer` as JSON; null where there is none. */
export const decidingAnswer = (user: SQL, scope: MarketingScope, now: number): SQL =>
  sql`(select (select ${deciding(now)} from consents d where d.id = r.consent_id) ${answers(user, scope)}
    ${bestFirst(now)})`

/** The answers that keys mean in an expression, each a `DecidingAnswer`, as a JSON array. */
export const answersToKeys = (user: SQL, keys: readonly string[], scope: ConsentScope, now: number): SQL =>
  sql`(select json_group_array(${deciding(now)}) from json_each(${JSON.stringify(keys)}) k
    join consents d on d.id = ${selectDefinitionId(sql`k.value`, scope)}
    left join consent_records r on r.user_id = ${user} and r.consent_id = d.id and r.is_latest = 1)`

/** Why a person gets no marketing; null for a person who gets it. A withdrawn consent counts as unsubscribed. */
export const marketingRefusal = (user: SQL, scope: MarketingScope, now: number): SQL =>
  sql`case when exists (select 1 ${answers(user, scope)} and ${isGiven(now)}) then null
    when exists (select 1 ${answers(user, scope)} and ${hasStatus(sql`r`, 'withdrawn')}) then 'unsubscribed' else 'no_consent' end`

/** How many people have given a definition. */
export const givenCount = (definition: SQL): SQL =>
  sql`(select given from consent_stats where consent_id = ${definition}.id)`

/** As `givenCount`, among the `id` of some people: others answer to the organisation's definitions too. */
export const givenAmong = (people: SQL, definition: SQL): SQL =>
  sql`(select count(*) from ${people} join consent_records on consent_records.user_id = ${people}.id
    and consent_records.consent_id = ${definition}.id and is_latest = 1
    where ${hasStatus(sql`consent_records`, 'given')})`

/** Blanks the evidence of a person's answers. Its hash stays, so that the chains stay intact. */
export const erasedAnswers = (userId: string): Statement =>
  update(
    consentRecords,
    { evidence: null },
    and(eq(consentRecords.user_id, userId), isNotNull(consentRecords.evidence)),
  )
