import { type SQL, sql } from 'drizzle-orm'
import type { AnswerStatus } from '../domain/consents/consents.ts'
import { inWords } from './conditions.ts'
import type { Statement } from './database.ts'

/** Where a consent applies: in an edition, or, if `edition_id` is null, in the whole organisation. */
export interface ConsentScope {
  organization_id: string | SQL
  edition_id: string | SQL | null
}

/** True for an answer with this status. */
export const hasStatus = (record: SQL, status: AnswerStatus): SQL => inWords(sql`${record}.status`, [status])

/**
 * True for an answer that counts at `now`: it is given, has not expired, and accepts the current wording if the consent
 * asks again after a change.
 */
export const isCurrentConsent = (record: SQL, definition: SQL, now: number): SQL =>
  sql`(${hasStatus(record, 'given')} and coalesce(${record}.expires_at > ${sql.raw(String(now))}, 1)
    and not (${definition}.reconsent_on_change = 1 and ${record}.consent_version < ${definition}.wording_version))`

/** True for a consent of the organisation that the edition replaces with its own of the same key. */
export const isShadowed = (definition: SQL, editionId: SQL): SQL =>
  sql`(${definition}.edition_id is null and exists (select 1 from consents own
    where own.organization_id = ${definition}.organization_id and coalesce(own.edition_id, '') = ${editionId}
      and own.key = ${definition}.key))`

/** The id of the consent with this key: the edition's own one, or else the organisation's. */
export const selectDefinitionId = (key: SQL, { organization_id, edition_id }: ConsentScope): SQL =>
  sql`(select id from consents where organization_id = ${organization_id}
    and coalesce(edition_id, '') in ${edition_id === null ? sql`('')` : sql`('', ${edition_id})`} and key = ${key}
    order by edition_id is null limit 1)`

/** The `from` and `where` of a query for a person's latest answer to one consent, as `record`. */
export const fromLatestAnswer = (record: SQL, user: SQL, consentId: SQL): SQL =>
  sql`consent_records ${record} where ${record}.user_id = ${user} and ${record}.consent_id = ${consentId}
    and ${record}.is_latest = 1`

/** True for an active consent that the edition offers. */
export const isOfferedIn = (definition: SQL, { organization_id, edition_id }: ConsentScope): SQL =>
  sql`${definition}.organization_id = ${organization_id} and coalesce(${definition}.edition_id, '') in ('', ${edition_id})
    and ${definition}.is_active = 1 and not ${isShadowed(definition, sql`${edition_id}`)}`

/** Writes the first wordings of consents that were copied into an edition. */
export const copyWordings = (editionId: string): Statement =>
  sql`insert into consent_versions (consent_id, version, title, text, link_url, legal_basis, content_hash, created_at)
    select id, wording_version, title, text, link_url, legal_basis, content_hash, created_at
    from consents where edition_id = ${editionId}`
