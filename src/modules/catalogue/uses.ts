import { type SQL, sql } from 'drizzle-orm'
import { inList, inWords } from '../../db/conditions.ts'
import { buildVisibility, isVisibleTo, type Visibility } from '../../db/visibility.ts'
import { type Caller, roleCodes } from '../../domain/accounts/access.ts'
import { finalStatuses } from '../../domain/data-imports/data-imports.ts'
import { AppError } from '../../domain/errors.ts'

/** The imports of an edition that still use their mapping, or that no longer do. */
export const selectImports = (editionId: string, { isFinal }: { isFinal: boolean }): SQL =>
  sql`(select id from data_imports where edition_id = ${editionId}
    and ${isFinal ? sql`` : sql`not`} ${inWords(sql`status`, finalStatuses)})`

const segmentVisibility = buildVisibility(sql`segments.organization_id`, sql`segments.edition_id`)

/** Roles of an edition see the templates of its organisation too. */
const messageVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`email_messages.organization_id`, ids),
  inEditions: (ids) => sql`(email_messages.edition_id is null or ${inList(sql`email_messages.edition_id`, ids)})`,
}

/**
 * Counts the segments of the organisation, and the messages with conditions of blocks, that name one of the ids: those
 * that the caller sees, and the others.
 */
export function countExpressions(
  caller: Caller,
  organizationId: string,
  ids: readonly string[],
): { segments: SQL<number>; email_messages: SQL<number>; hidden_uses: SQL<number> } {
  const namesId = (expression: SQL): SQL =>
    sql`exists (select 1 from json_each(${JSON.stringify(ids)}) as id where instr(${expression}, id.value))`
  const countSegments = (condition: SQL): SQL<number> =>
    sql<number>`(select count(*) from segments where organization_id = ${organizationId} and deleted_at is null
      and ${condition} and ${namesId(sql`expression`)})`
  const countMessages = (condition: SQL): SQL<number> =>
    sql<number>`(select count(*) from email_messages where organization_id = ${organizationId} and ${condition}
      and ${namesId(sql`blocks`)} and exists (select 1 from json_tree(blocks) as field
        where field.key = 'condition' and ${namesId(sql`field.value`)}))`
  const isSegmentVisible = isVisibleTo(caller, segmentVisibility, roleCodes)
  const isMessageVisible = isVisibleTo(caller, messageVisibility, roleCodes)
  return {
    segments: countSegments(isSegmentVisible),
    email_messages: countMessages(isMessageVisible),
    hidden_uses: sql<number>`(${countSegments(sql`(${isSegmentVisible}) is not true`)}
      + ${countMessages(sql`(${isMessageVisible}) is not true`)})`,
  }
}

/**
 * Throws the error with the counts unless nothing is counted. An edition role learns nothing about uses outside its
 * editions, except that there are some.
 */
export function requireNoUses(
  { code, detail, extra }: { code: 'product_in_use' | 'location_in_use'; detail: string; extra?: object },
  { hidden_uses, ...counts }: Readonly<Record<string, number>> & { hidden_uses: number },
): void {
  if (hidden_uses === 0 && Object.values(counts).every((count) => count === 0)) return
  const hint = hidden_uses > 0 ? ' Something outside your editions uses it.' : ''
  throw new AppError(code, `${detail}${hint}`, { extra: { counts, ...extra } })
}
