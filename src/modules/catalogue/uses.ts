import { type SQL, sql } from 'drizzle-orm'
import { inWords } from '../../db/conditions.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { type Caller, roleCodes } from '../../domain/accounts/access.ts'
import { finalStatuses } from '../../domain/data-imports/data-imports.ts'
import { AppError } from '../../domain/errors.ts'

/** The imports of an edition that still use their mapping, or that no longer do. */
export const selectImports = (editionId: string, { isFinal }: { isFinal: boolean }): SQL =>
  sql`(select id from data_imports where edition_id = ${editionId}
    and ${isFinal ? sql`` : sql`not`} ${inWords(sql`status`, finalStatuses)})`

const segmentVisibility = buildVisibility(sql`segments.organization_id`, sql`segments.edition_id`)

/** Counts the segments of the organisation that name one of the ids: those that the caller sees, and the others. */
export function countSegments(
  caller: Caller,
  organizationId: string,
  ids: readonly string[],
): { segments: SQL<number>; hidden_segments: SQL<number> } {
  const isVisible = isVisibleTo(caller, segmentVisibility, roleCodes)
  const count = (condition: SQL): SQL<number> =>
    sql<number>`(select count(*) from segments where organization_id = ${organizationId} and deleted_at is null
      and ${condition}
      and exists (select 1 from json_each(${JSON.stringify(ids)}) as id where instr(expression, id.value)))`
  return { segments: count(isVisible), hidden_segments: count(sql`(${isVisible}) is not true`) }
}

/**
 * Throws the error with the counts unless nothing is counted. An edition role learns nothing about segments outside its
 * editions, except that there are some.
 */
export function requireNoUses(
  { code, detail, extra }: { code: 'product_in_use' | 'location_in_use'; detail: string; extra?: object },
  { hidden_segments, ...counts }: Readonly<Record<string, number>> & { hidden_segments: number },
): void {
  if (hidden_segments === 0 && Object.values(counts).every((count) => count === 0)) return
  const hint = hidden_segments > 0 ? ' Something outside your editions uses it.' : ''
  throw new AppError(code, `${detail}${hint}`, { extra: { counts, ...extra } })
}
