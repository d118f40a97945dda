import { type SQL, sql } from 'drizzle-orm'
import type { SpannedList } from '../../db/lists/spans/spanned-list.ts'
import { firstIdAt, idPrefixes } from '../../domain/ids.ts'

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const firstDigit = idPrefixes.audit_entry.length + 2

/** The moment of an id, which ten digits of five bits have. */
const timeOf = (id: SQL): SQL => {
  const values = Array.from({ length: 10 }, (_, index) => {
    const digit = sql`substr(${id}, ${sql.raw(String(firstDigit + index))}, 1)`
    return sql`((instr('${sql.raw(digits)}', ${digit}) - 1) << ${sql.raw(String(5 * (9 - index)))})`
  })
  return sql`(${sql.join(values, sql` + `)})`
}

/** The id that `firstIdAt` makes. */
const firstIdOf = (moment: SQL): SQL => {
  const letters = Array.from(
    { length: 10 },
    (_, index) => sql`substr('${sql.raw(digits)}', 1 + (${moment} >> ${sql.raw(String(5 * (9 - index)))} & 31), 1)`,
  )
  return sql`(${`${idPrefixes.audit_entry}_`} || ${sql.join(letters, sql` || `)})`
}

export const entrySpans: SpannedList = {
  name: 'audit_log',
  table: sql`audit_log`,
  joins: sql``,
  scope: sql`audit_log.organization_id`,
  key: sql`audit_log.id`,
  momentOf: timeOf,
  keyAt: (moment) => firstIdAt('audit_entry', moment),
  keyOf: firstIdOf,
  facets: [
    { column: sql`audit_log.actor_id` },
    { column: sql`audit_log.action` },
    { column: sql`coalesce(audit_log.resource_type, '-')` },
  ],
  hasSums: true,
  hasLongSums: true,
  mostUndivided: 64,
  isSettled: true,
}

/** The resource of an entry, in its organisation. No id has a slash. */
export const resourceScope = (organizationId: SQL, resourceId: SQL): SQL =>
  sql`(${organizationId} || '/' || ${resourceId})`

export const scopeOfResource = (organizationId: string, resourceId: string): string => `${organizationId}/${resourceId}`

/** Entries of each resource that has many. */
export const resourceSpans: SpannedList = {
  ...entrySpans,
  name: 'audit_log_resources',
  scope: resourceScope(sql`audit_log.organization_id`, sql`audit_log.resource_id`),
  ofScope: (scope) => sql`audit_log.organization_id = substr(${scope}, 1, instr(${scope}, '/') - 1)
    and audit_log.resource_id = substr(${scope}, instr(${scope}, '/') + 1)`,
  hasSmallScopes: true,
}
