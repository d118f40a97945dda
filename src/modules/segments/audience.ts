import { type SQL, sql } from 'drizzle-orm'
import { isCurrentConsent, type Scope } from '../../db/cel/index.ts'
import { inList } from '../../db/visibility.ts'
import type { Channel } from '../../domain/messaging.ts'
import type { CommunicationType } from '../../domain/segments.ts'
import { listedSuppressionExclusion } from '../suppressions/index.ts'

/** Whom a message may be meant for, and what it is allowed to be. */
export interface Audience {
  organization_id: string
  edition_id: string | null
  /** Where no edition is named, those that are seen; all of the organisation without them. */
  editions?: readonly string[]
  communication_type: CommunicationType
  communication_channel: Channel
}

export type Home = Pick<Audience, 'organization_id' | 'edition_id' | 'editions'>

interface People {
  from: SQL
  id: SQL
  where: SQL
}

/** The editions whose data belongs there; null for all of the organisation. */
export const editionsOf = ({ edition_id, editions }: Home): readonly string[] | null =>
  edition_id === null ? (editions ?? null) : [edition_id]

/** What an expression sees there, whoever asks. */
export const scopeOf = (home: Home, now: number): Scope => ({
  organizationId: home.organization_id,
  editionId: home.edition_id,
  editions: editionsOf(home),
  now,
})

/** By the end of their ids, for a sample of them; the planner would read all. */
const bySample = (index: string, isSampled: boolean): SQL => sql.raw(isSampled ? `indexed by ${index}` : '')

const knownIn = (editions: readonly string[], isSampled: boolean): SQL =>
  sql`(select distinct user_id from user_editions ${bySample('user_editions_sample', isSampled)}
    where ${inList(sql`edition_id`, editions)})`

/** The people of an organisation, or those who have bought in some of its editions, as `users u`. */
export function peopleOf({ organization_id, edition_id, editions }: Home, isSampled = false): People {
  const ofOrganization = sql`u.organization_id = ${organization_id}`
  if (edition_id !== null)
    return {
      from: sql`user_editions e ${bySample('user_editions_sample', isSampled)}
        cross join users u on u.id = e.user_id`,
      id: sql`e.user_id`,
      where: sql`e.edition_id = ${edition_id} and ${ofOrganization}`,
    }
  if (editions === undefined)
    return { from: sql`users u ${bySample('users_sample', isSampled)}`, id: sql`u.id`, where: ofOrganization }
  return {
    from: sql`${knownIn(editions, isSampled)} e cross join users u on u.id = e.user_id`,
    id: sql`e.user_id`,
    where: ofOrganization,
  }
}

/** The same people by their ids alone, which one index has in order. */
export function idsOf({ organization_id, edition_id, editions }: Home, isSampled = false): People {
  if (edition_id !== null)
    return {
      from: sql`user_editions ${bySample('user_editions_sample', isSampled)}`,
      id: sql`user_id`,
      where: sql`edition_id = ${edition_id}`,
    }
  if (editions === undefined)
    return {
      from: sql`users ${bySample('users_sample', isSampled)}`,
      id: sql`id`,
      where: sql`organization_id = ${organization_id}`,
    }
  return { from: knownIn(editions, isSampled), id: sql`user_id`, where: sql`1` }
}

/** Where messages of a channel reach a person `u`. */
export const addressOf = (channel: Channel): SQL => (channel === 'email' ? sql`u.email` : sql`u.phone_number`)

/** Holds for definitions of the organisation itself and of the editions in sight. */
const isDefinedThere = (home: Home): SQL => {
  const { edition_id, editions } = home
  if (edition_id !== null) return sql`and (edition_id is null or edition_id = ${edition_id})`
  return editions === undefined ? sql`` : sql`and (edition_id is null or ${inList(sql`edition_id`, editions)})`
}

/**
 * Definitions by which a person agrees to marketing through this channel. An answer to the organisation's own counts in
 * all of its editions, wherever it was given: who withdrew it in one gets nothing from another.
 */
const definitions = (audience: Audience): SQL =>
  sql`select id from consents where organization_id = ${audience.organization_id} and type = 'marketing'
    ${isDefinedThere(audience)}
    and exists (select 1 from json_each(channels) where value = ${audience.communication_channel})`

const isGiven = (now: number): SQL => sql`exists (select 1 from consents c where c.id = r.consent_id
  and ${isCurrentConsent(sql`r`, sql`c`, now)})`

const answers = (audience: Audience): SQL =>
  sql`from consent_records r where r.user_id = u.id and r.is_latest = 1 and r.consent_id in (${definitions(audience)})`

/** How the person `u` stands to marketing through the channel: the best of all answers, or `none`. */
export const consentStatus = (audience: Audience, now: number): SQL =>
  sql`coalesce((select case when ${isGiven(now)} then 'given' when r.status = 'given' then 'expired' else r.status end
    ${answers(audience)}
    order by case when ${isGiven(now)} then 0 when r.status = 'withdrawn' then 1 else 2 end, r.occurred_at desc
    limit 1), 'none')`

/** The reason that a lacking consent is: somebody who withdrew one has unsubscribed. */
const consentReason = (audience: Audience, now: number): SQL =>
  sql`case when exists (select 1 ${answers(audience)} and ${isGiven(now)}) then null
    when exists (select 1 ${answers(audience)} and r.status = 'withdrawn') then 'unsubscribed' else 'no_consent' end`

/**
 * What each condition of an audience finds wrong with the person `u`, in the order in which they count; null is well.
 * `suppressed` asks for the suppression of the person in another way.
 */
export const audienceConditions = (
  audience: Audience,
  now: number,
  suppressed: SQL = listedSuppressionExclusion(audience, addressOf(audience.communication_channel)),
): { name: string; reason: SQL }[] => [
  {
    name: 'address',
    reason: sql`case when ${addressOf(audience.communication_channel)} is null then 'no_address' end`,
  },
  ...(audience.communication_type === 'marketing' ? [{ name: 'consent', reason: consentReason(audience, now) }] : []),
  { name: 'suppression', reason: suppressed },
  { name: 'active', reason: sql`case when u.is_active = 0 then 'inactive' end` },
]

/** Why the person `u` gets nothing of this kind through this channel, as an `ExclusionReason`; null for who gets it. */
export const audienceReason = (audience: Audience, now: number, suppressed?: SQL): SQL =>
  sql`coalesce(${sql.join(
    audienceConditions(audience, now, suppressed).map(({ reason }) => reason),
    sql`, `,
  )})`
