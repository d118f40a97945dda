import { and, isNotNull, type SQL, sql } from 'drizzle-orm'
import { inList, inWords } from '../../../db/conditions.ts'
import { type ConsentScope, selectDefinitionId, hasStatus, isCurrentConsent, isShadowed } from '../../../db/consents.ts'
import { selectFormerIds } from '../../../db/customers.ts'
import type { Statement } from '../../../db/database.ts'
import { consentRecords } from '../../../db/schema/consents.ts'
import { update } from '../../../db/write.ts'
import { type AnswerState, personalMethods } from '../../../domain/consents/consents.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'

/** Who sends marketing, and through which channel. */
export interface MarketingScope {
  organization_id: string
  edition_id: string | null
  /** The editions whose consents count when `edition_id` is null. All editions of the organisation when absent. */
  editions?: readonly string[]
  channel: Channel
}

/** Holds for definitions of the organisation itself and of the editions in the scope. */
const isInScope = ({ edition_id, editions }: MarketingScope): SQL => {
  if (edition_id !== null)
    return sql`and (edition_id is null or edition_id = ${edition_id})
      and not ${isShadowed(sql`consents`, sql`${edition_id}`)}`
  return editions === undefined ? sql`` : sql`and (edition_id is null or ${inList(sql`edition_id`, editions)})`
}

/**
 * Selects the definitions by which a person agrees to marketing through this channel. An answer to the organisation's
 * definition counts in all editions: a person who withdrew it in one edition gets nothing from the others.
 */
const selectDefinitions = (scope: MarketingScope): SQL =>
  sql`select id from consents where organization_id = ${scope.organization_id} and type = 'marketing'
    ${isInScope(scope)}
    and exists (select 1 from json_each(channels) where value = ${scope.channel})`

const isGiven = (now: number): SQL => sql`exists (select 1 from consents c where c.id = r.consent_id
  and ${isCurrentConsent(sql`r`, sql`c`, now)})`

const fromAnswers = (user: SQL, scope: MarketingScope): SQL =>
  sql`from consent_records r where r.user_id = ${user} and r.is_latest = 1 and r.consent_id in (${selectDefinitions(scope)})`

const orderBestFirst = (now: number): SQL =>
  sql`order by case when ${isGiven(now)} then 0 when ${hasStatus(sql`r`, 'withdrawn')} then 1 else 2 end, r.occurred_at desc
    limit 1`

/**
 * Selects the best of the person's answers to marketing, or `none`. A consent that has ended or is outdated is
 * `expired`.
 */
export const selectMarketingStatus = (user: SQL, scope: MarketingScope, now: number): SQL =>
  sql`coalesce((select case when ${isGiven(now)} then 'given' when ${hasStatus(sql`r`, 'given')} then 'expired' else r.status end
    ${fromAnswers(user, scope)} ${orderBestFirst(now)}), 'none')`

/** The answer that decides whether a person gets marketing or matches an expression. */
export interface DecidingAnswer {
  key: string
  consent_id: string
  /** Null before the first answer. */
  record_id: string | null
  status: AnswerState
  is_current: boolean
}

const buildDecidingAnswer = (now: number): SQL =>
  sql`json_object('key', d.key, 'consent_id', d.id, 'record_id', r.id, 'status', coalesce(r.status, 'none'),
    'is_current', json(iif(r.id is not null and ${isCurrentConsent(sql`r`, sql`d`, now)}, 'true', 'false')))`

/** Selects the answer that decides about marketing, as JSON of `DecidingAnswer`. It is null when there is none. */
export const selectDecidingAnswer = (user: SQL, scope: MarketingScope, now: number): SQL =>
  sql`(select (select ${buildDecidingAnswer(now)} from consents d where d.id = r.consent_id) ${fromAnswers(user, scope)}
    ${orderBestFirst(now)})`

/**
 * Selects the person's answers to the consents that an expression names by key, as a JSON array of `DecidingAnswer`.
 */
export const selectAnswersToKeys = (user: SQL, keys: readonly string[], scope: ConsentScope, now: number): SQL =>
  sql`(select json_group_array(${buildDecidingAnswer(now)}) from json_each(${JSON.stringify(keys)}) k
    join consents d on d.id = ${selectDefinitionId(sql`k.value`, scope)}
    left join consent_records r on r.user_id = ${user} and r.consent_id = d.id and r.is_latest = 1)`

/** Selects why a person gets no marketing, or null. A withdrawn consent counts as `unsubscribed`. */
export const selectMarketingRefusal = (user: SQL, scope: MarketingScope, now: number): SQL =>
  sql`case when exists (select 1 ${fromAnswers(user, scope)} and ${isGiven(now)}) then null
    when exists (select 1 ${fromAnswers(user, scope)} and ${hasStatus(sql`r`, 'withdrawn')}) then 'unsubscribed' else 'no_consent' end`

/** Holds for an e-mail address whose owner has agreed to marketing after a time, by an act of their own. */
export const hasReturned = (organizationId: string, address: SQL, since: SQL): SQL =>
  sql`exists (select 1 from users join consent_records r on r.user_id = users.id and r.is_latest = 1
      join consents c on c.id = r.consent_id
    where users.organization_id = ${organizationId} and users.email = ${address}
      and r.status = 'given' and r.occurred_at > ${since} and c.type = 'marketing'
      and ${inWords(sql`r.method`, personalMethods)})`

/** Counts the people who have given a consent. */
export const countGiven = (definition: SQL): SQL =>
  sql`(select given from consent_stats where consent_id = ${definition}.id)`

/** Counts the people among `people` who have given a consent. */
export const countGivenAmong = (people: SQL, definition: SQL): SQL =>
  sql`(select count(*) from ${people} join consent_records on consent_records.user_id = ${people}.id
    and consent_records.consent_id = ${definition}.id and is_latest = 1
    where ${hasStatus(sql`consent_records`, 'given')})`

/** Blanks the evidence of a person's answers. The hashes of evidence stay, so that the chains stay intact. */
export const eraseEvidence = (userId: string): Statement =>
  update(
    consentRecords,
    { evidence: null },
    and(sql`${consentRecords.user_id} in ${selectFormerIds(userId)}`, isNotNull(consentRecords.evidence)),
  )
