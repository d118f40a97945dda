import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/contains.ts'
import { paginate } from '../../db/paginate.ts'
import { visibilityOf, visible, visibleIn } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { doesNotExist, notFound } from '../../domain/errors.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { type EditionSummaryRow, editionSummaryColumns } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import type { ImportFilters, ImportOrdering } from './import-contract.ts'
import type { ImportRow } from './background/steps.ts'

interface ImportTenant extends EditionSummaryRow, OrganizationSummaryRow {
  edition_is_archived: number
  edition_currency: string
  edition_country_code: string
  edition_language: string
}

/** An import with what answers say of its organisation, its edition and its file. */
export interface ImportDetailRow extends ImportRow, ImportTenant {
  organization_id: string
  edition_id: string
  file_name: string | null
  file_size: number | null
}

export type LoadedImport = ImportDetailRow & { tenant: Tenant }

const importVisibility = visibilityOf(sql`data_imports.organization_id`, sql`data_imports.edition_id`)

const tenantColumns: SQL = sql`${organizationSummaryColumns}, ${editionSummaryColumns},
  editions.is_archived as edition_is_archived, editions.currency as edition_currency,
  editions.default_country_code as edition_country_code, editions.default_language as edition_language`

const columns: SQL = sql`${tenantColumns}, files.name as file_name, files.size as file_size, data_imports.*`

const joins: SQL = sql`join organizations on organizations.id = data_imports.organization_id
  join editions on editions.id = data_imports.edition_id left join files on files.id = data_imports.file_id`

const exact = ['organization_id', 'edition_id', 'status', 'source'] as const

export const listDataImports = (
  ctx: Ctx,
  page: PageRequest,
  ordering: ImportOrdering,
  filters: ImportFilters,
): Promise<Page<ImportDetailRow>> =>
  paginate<ImportDetailRow>(ctx.db, page, {
    from: sql`data_imports`,
    key: sql`data_imports.id`,
    where: [
      visibleIn(ctx.caller, importVisibility, filters),
      ...exact.flatMap((name) => (filters[name] ? [sql`data_imports.${sql.raw(name)} = ${filters[name]}`] : [])),
      ...(filters.search ? [containsFolded(sql`data_imports.search`, filters.search)] : []),
    ],
    sort: sortBy(ordering, '-created', {
      created: sql`data_imports.created_at`,
      modified: sql`data_imports.modified_at`,
      name: sql`data_imports.name`,
      status: sql`data_imports.status`,
    }),
    columns,
    joins: sql`join data_imports on data_imports.id = page.key ${joins}`,
  })

export async function findImport(ctx: Ctx, id: string): Promise<LoadedImport> {
  const row = await ctx.db.first(sql<ImportDetailRow>`select ${columns} from data_imports ${joins}
    where data_imports.id = ${id} and ${visible(ctx.caller, importVisibility)}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

/** The edition of a new import, with its organisation. */
export async function findTenant(ctx: Ctx, organizationId: string, editionId: string): Promise<ImportTenant> {
  const tenant = await ctx.db.first(sql<ImportTenant>`select ${tenantColumns} from organizations
    left join editions on editions.id = ${editionId} and editions.organization_id = organizations.id
    where organizations.id = ${organizationId}`)
  if (!tenant) throw doesNotExist('organization_id')
  if ((tenant.edition_id as string | null) === null) throw doesNotExist('edition_id')
  return tenant
}
