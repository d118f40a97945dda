import { sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { refuseUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { insert } from '../../db/write.ts'
import { maxCatalogueRows } from '../../domain/catalogue.ts'
import { type AppError, fieldError, invalid } from '../../domain/errors.ts'
import { openEditions, requireTenant } from '../editions/index.ts'

type CatalogueTable = SQLiteTable & Record<'organization_id' | 'edition_id', SQLiteColumn>

/** The columns of a row that is written for the first time. */
export const buildFirstVersion = (now: number) => ({ version: 1, created_at: now, modified_at: now })

/** Aborts the batch with `catalogue_full` if the owner in `column` has the most rows of this table. */
export const requireRoom = (table: SQLiteTable, column: SQLiteColumn, id: string): Statement =>
  refuseUnless(
    sql`(select count(*) from (select 1 from ${table} where ${column} = ${id} limit ${maxCatalogueRows}))
      < ${maxCatalogueRows}`,
    'catalogue_full',
  )

/** Adds a row to an edition that exists, belongs to the organisation, is not archived and has room. */
export const insertIntoEdition = <T extends CatalogueTable>(
  table: T,
  row: T['$inferInsert'] & { organization_id: string; edition_id: string },
): Statement[] => [
  requireTenant(row.organization_id, row.edition_id),
  ...openEditions(row.edition_id),
  requireRoom(table, table.edition_id, row.edition_id),
  insert(table, row),
]

export const createNameTaken = (kind: string) => (): AppError =>
  invalid(
    fieldError(['name'], 'unique', `Another ${kind} of the edition has this name, without regard to case and accents.`),
  )

/** The tenant of a row that an edition owns. */
export const withTenant = <Row extends { organization_id: string; edition_id: string }>(row: Row) => ({
  ...row,
  tenant: { organization_id: row.organization_id, editions: [row.edition_id] },
})
