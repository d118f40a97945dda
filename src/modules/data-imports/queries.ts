import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { dataImports } from '../../db/schema/data-imports.ts'
import { editions } from '../../db/schema/editions.ts'
import { files } from '../../db/schema/files.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { type RowOf, select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import { mayAt, type Tenant, managers } from '../../domain/accounts/access.ts'
import { heartbeatLostMs } from '../../domain/data-imports/data-imports.ts'
import { doesNotExist, notFound, AppError } from '../../domain/errors.ts'
import { editionSummaryFields } from '../editions/index.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import { importFields, type ImportRow } from './background/steps.ts'

const tenantFields = {
  ...organizationSummaryFields,
  ...editionSummaryFields,
  edition_is_archived: editions.is_archived,
  edition_currency: editions.currency,
  edition_country_code: editions.default_country_code,
  edition_language: editions.default_language,
}

type ImportTenant = RowOf<typeof tenantFields>

export interface ImportDetailRow extends ImportRow, Omit<ImportTenant, 'organization_id' | 'edition_id'> {
  file_name: string | null
  file_size: number | null
  /** Null for a file of the whole organisation. */
  file_edition_id: string | null
}

export type LoadedImport = ImportDetailRow & { tenant: Tenant }

export const importVisibility = buildVisibility(sql`data_imports.organization_id`, sql`data_imports.edition_id`)

export const importColumns = {
  ...tenantFields,
  ...importFields,
  file_name: sql<string | null>`${files.name}`,
  file_size: sql<number | null>`${files.size}`,
  file_edition_id: sql<string | null>`${files.edition_id}`,
}

/** Roles of an edition cannot read a file of the whole organisation. */
export const mayReadFile = (ctx: Ctx, row: ImportDetailRow): boolean =>
  mayAt(ctx.caller, managers, {
    organization_id: row.organization_id,
    editions: row.file_edition_id === null ? [] : [row.file_edition_id],
  })

/** True if the caller may import into every edition of the organisation. */
export const hasOrganizationRole = (ctx: Ctx, { organization_id }: { organization_id: string }): boolean =>
  mayAt(ctx.caller, managers, { organization_id, editions: [] })

export async function findImport(ctx: Ctx, id: string): Promise<LoadedImport> {
  const row = await ctx.db.first(
    select(importColumns)
      .from(dataImports)
      .innerJoin(organizations, eq(organizations.id, dataImports.organization_id))
      .innerJoin(editions, eq(editions.id, dataImports.edition_id))
      .leftJoin(files, eq(files.id, dataImports.file_id))
      .where(and(eq(dataImports.id, id), isVisibleTo(ctx.caller, importVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

export async function findImportTenant(ctx: Ctx, organizationId: string, editionId: string): Promise<ImportTenant> {
  const tenant = await ctx.db.first(
    select(tenantFields)
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, editionId), eq(editions.organization_id, organizations.id)))
      .where(eq(organizations.id, organizationId)),
  )
  if (!tenant) throw doesNotExist('organization_id')
  if (tenant.edition_id === null) throw doesNotExist('edition_id')
  // An edition that exists has all of these columns.
  return tenant as ImportTenant
}

export const buildDeletedError = (detail: string): AppError => new AppError('import_data_deleted', detail)

export const selectImportWork = (now: number): SQL<WorkCount> =>
  selectWork(now - heartbeatLostMs, {
    kind: 'data_imports',
    from: sql`data_imports indexed by data_imports_working`,
    where: sql`heartbeat_at is not null`,
    dueAt: sql`heartbeat_at`,
  })
