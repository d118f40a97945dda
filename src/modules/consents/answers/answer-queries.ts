import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { buildContactColumn, selectVisibleEditionIds } from '../../../db/customers.ts'
import { consents } from '../../../db/schema/consents.ts'
import { users } from '../../../db/schema/customers.ts'
import { decodeAs, fromJson, jsonFlag, type RowOf, buildSelectList } from '../../../db/select.ts'
import { isVisibleTo } from '../../../db/visibility.ts'
import { type Tenant, getReach } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import type { SuppressionReason } from '../../../domain/messaging/suppressions.ts'
import { selectChannelBlock } from '../../suppressions/index.ts'
import { type EmailStateRow, selectConfirmationEmail } from '../../transactional-emails/index.ts'
import { describeMissingUser, type LoadedUser, userVisibility } from '../../users/index.ts'
import type { DefinitionRow } from '../queries.ts'
import { recordColumns, type RecordRow, createRowReader } from './records.ts'

export { findUser } from '../../users/index.ts'

/** A record with what the caller may see of it. */
export interface VisibleRecord extends RecordRow {
  previous_hash: string | null
  /** The record was not made in an edition of the caller, so some of its fields are null for them. */
  is_hidden: boolean
}

/** A definition, and one person's answer to it. */
export interface AnswerRow extends DefinitionRow {
  user_id: string
  record: VisibleRecord | null
  /** Why no marketing of the consent reaches the person. */
  blocked_by: SuppressionReason | null
  /** The latest e-mail that asked the person to confirm the record. Null when there is none, or when it is hidden. */
  confirmation_email: EmailStateRow | null
}

export const selectPreviousHash = (record: SQL): SQL =>
  sql`(select before.record_hash from consent_records before where before.user_id = ${record}.user_id
    and before.consent_id = ${record}.consent_id and before.number = ${record}.number - 1)`

/** The organisations and editions whose records the caller sees whole. Null: all. */
function getRecordReach({ caller }: Ctx): { organizations: readonly string[]; editions: readonly string[] } | null {
  const reach = getReach(caller)
  if (reach.all) return null
  return { organizations: reach.organizations, editions: reach.editions.flatMap((grant) => grant.edition_id ?? []) }
}

/** True for stored records that are partly hidden from the caller. The query has to join `users`. */
export function selectIsHidden(ctx: Ctx, record: SQL): SQL {
  const reach = getRecordReach(ctx)
  return reach === null
    ? sql`0`
    : sql`not (${inList(sql`users.organization_id`, reach.organizations)}
        or coalesce(${inList(sql`${record}.edition_id`, reach.editions)}, 0))`
}

/** True for a new record that is partly hidden from the caller. */
export function isRecordHidden(ctx: Ctx, organizationId: string, editionId: string | null): boolean {
  const reach = getRecordReach(ctx)
  return reach !== null && !reach.organizations.includes(organizationId) && !reach.editions.includes(editionId ?? '')
}

/** Builds an array of a record's values. It has no names, because a function of D1 takes at most 32 arguments. */
const buildRecordJson = (ctx: Ctx, record: SQL): SQL => {
  const columns = recordColumns.map((name) => sql`${record}.${sql.raw(name)}`)
  return sql`json_array(${sql.join(columns, sql`, `)}, ${selectPreviousHash(record)},
    ${jsonFlag(selectIsHidden(ctx, record))})`
}

const visibleColumns = [...recordColumns, 'previous_hash', 'is_hidden']

const latestRecord = sql`from consent_records r where r.user_id = users.id and r.consent_id = consents.id
  and r.is_latest = 1`

const selectLatestRecord = (ctx: Ctx) =>
  sql<VisibleRecord | null>`(select ${buildRecordJson(ctx, sql`r`)} ${latestRecord})`.mapWith(
    createRowReader<VisibleRecord | null>(visibleColumns),
  )

export const buildAnswerFields = (ctx: Ctx) => ({
  ...getTableColumns(consents),
  user_id: users.id,
  record: selectLatestRecord(ctx),
  blocked_by: sql<SuppressionReason | null>`iif(consents.type = 'marketing',
    ${selectChannelBlock(sql`users`, sql`consents.channels`)}, null)`,
  confirmation_email: fromJson<EmailStateRow | null>(
    sql`(select ${selectConfirmationEmail(sql`r.id`)} ${latestRecord} and not ${selectIsHidden(ctx, sql`r`)})`,
  ),
})

/** Lists the person's editions that the caller may see. */
export function listVisibleEditions(ctx: Ctx, user: Pick<LoadedUser, 'organization_id' | 'tenant'>): readonly string[] {
  const editions = user.tenant.editions === 'any' ? [] : user.tenant.editions
  const reach = getReach(ctx.caller)
  if (reach.all || reach.organizations.includes(user.organization_id)) return editions
  return editions.filter((id) => reach.editions.some((grant) => grant.edition_id === id))
}

/**
 * A person and a definition that applies to them. `id` is the id of the person, because an answer changes the person.
 */
export interface AnswerSubject {
  id: string
  organization_id: string
  tenant: Tenant
  erased_at: number | null
  /** The person's address as the definition's edition knows it, for events. */
  email: string | null
  /** The address to which the person gets mail. */
  address: string | null
  default_language: Language | null
  answer: AnswerRow
}

/**
 * Finds a person and a definition of the organisation or of one of the person's editions, as the caller may see them.
 */
export async function findAnswerSubject(ctx: Ctx, userId: string, consentId: string): Promise<AnswerSubject> {
  const fields = {
    ...buildAnswerFields(ctx),
    erased_at: users.erased_at,
    default_language: sql<Language | null>`editions.default_language`,
    email: sql<string | null>`${buildContactColumn(sql`users`, 'email', sql`consents.edition_id`)}`,
    address: users.email,
    editions: selectVisibleEditionIds(ctx.caller),
  }
  const applicable = sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}
    from users join consents on consents.id = ${consentId} and consents.organization_id = users.organization_id
    left join editions on editions.id = consents.edition_id
    where users.id = ${userId} and ${isVisibleTo(ctx.caller, userVisibility)}`
  const row = await ctx.db.first(decodeAs(fields, applicable))
  if (!row) throw await describeMissingUser(ctx, userId)
  const { erased_at, email, address, default_language, editions: personEditions, ...answer } = row
  const { edition_id, organization_id } = answer
  if (edition_id !== null && !personEditions.includes(edition_id)) throw notFound()
  const tenant = { organization_id, editions: edition_id === null ? personEditions : [edition_id] }
  // A caller does not find definitions of editions in which they have no role.
  if (edition_id !== null && !listVisibleEditions(ctx, { organization_id, tenant }).length) throw notFound()
  return { id: userId, organization_id, tenant, erased_at, email, address, default_language, answer }
}
