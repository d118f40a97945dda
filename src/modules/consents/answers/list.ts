import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { isShadowed } from '../../../db/consents.ts'
import { buildConditions, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { consentRecords, consents } from '../../../db/schema/consents.ts'
import { fromFlag } from '../../../db/select.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { LoadedUser } from '../../users/index.ts'
import type { AnswerQuery, RecordQuery } from '../answer-contract.ts'
import {
  type AnswerRow,
  type AnswerSubject,
  buildAnswerFields,
  selectIsHidden,
  listVisibleEditions,
  selectPreviousHash,
  type VisibleRecord,
} from './answer-queries.ts'

/** The definitions that apply to the person in editions that the caller sees, or only in the edition of the query. */
function buildScope(ctx: Ctx, user: LoadedUser, { edition_id }: AnswerQuery): SQL[] {
  const visibleEditions = listVisibleEditions(ctx, user)
  const hasAnswered = sql`exists (select 1 from consent_records r where r.user_id = ${user.id}
    and r.consent_id = consents.id and r.is_latest = 1)`
  const editions = edition_id === undefined ? visibleEditions : visibleEditions.filter((id) => id === edition_id)
  const isApplicable = sql`(consents.edition_id is null or ${inList(sql`consents.edition_id`, editions)})`
  return [
    eq(consents.organization_id, user.organization_id),
    edition_id !== undefined && editions.length === 0 ? sql`0` : isApplicable,
    sql`(consents.is_active = 1 or ${hasAnswered})`,
  ]
}

const answerFilters: FilterTable<AnswerQuery> = {
  edition_id: (id) => sql`not ${isShadowed(sql`consents`, sql`${id}`)}`,
  type: equals(consents.type),
}

export const listUserConsents = (
  ctx: Ctx,
  page: PageRequest,
  query: AnswerQuery,
  user: LoadedUser,
): Promise<Page<AnswerRow>> =>
  paginate(ctx.db, page, {
    from: sql`${consents}`,
    where: [...buildScope(ctx, user, query), ...buildConditions(answerFilters, query)],
    orderBy: buildOrderBy(query.ordering, 'position', {
      position: sql`${consents.position}`,
      name: sql`${consents.name_key}`,
    }),
    id: sql`${consents.id}`,
    columns: buildAnswerFields(ctx),
    joins: sql`join consents on consents.id = page.id join users on users.id = ${user.id}`,
  })

export function listConsentRecords(
  ctx: Ctx,
  page: PageRequest,
  { ordering }: RecordQuery,
  { answer }: AnswerSubject,
): Promise<Page<VisibleRecord>> {
  const key = sql`${consentRecords.number}`
  return paginate(ctx.db, page, {
    from: sql`${consentRecords}`,
    where: [eq(consentRecords.user_id, answer.user_id), eq(consentRecords.consent_id, answer.id)],
    orderBy: buildOrderBy(ordering, '-number', { number: key }),
    id: key,
    columns: {
      ...getTableColumns(consentRecords),
      previous_hash: sql<string | null>`${selectPreviousHash(sql`consent_records`)}`,
      is_hidden: fromFlag(selectIsHidden(ctx, sql`consent_records`)),
    },
    joins: sql`join ${consentRecords} on ${consentRecords.user_id} = ${answer.user_id}
        and ${consentRecords.consent_id} = ${answer.id} and ${consentRecords.number} = page.id
      join users on users.id = ${answer.user_id}`,
  })
}
