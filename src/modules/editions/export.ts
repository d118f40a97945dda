import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { select } from '../../db/select.ts'
import { editionVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { invalid, notFound, parameterError } from '../../domain/errors.ts'
import type { KeyValue } from '../../domain/page.ts'
import { rowsPerPage, streamTable, type Table, type TableFormat } from '../../domain/text/table-file.ts'
import { toIso } from '../../domain/time/instants.ts'
import { findOrganization } from '../organizations/index.ts'

/** The edition or the organisation whose rows are exported. */
export interface ExportTarget {
  id: string
  organization_id: string
  edition_id: string | null
  slug: string
  tenant: Tenant
}

/** Finds what an export covers. Throws `not_found` for what the caller may not see. */
export async function findExportTarget(
  ctx: Ctx,
  { edition_id, organization_id }: { edition_id?: string | undefined; organization_id?: string | undefined },
): Promise<ExportTarget> {
  if (edition_id) {
    const row = await ctx.db.first(
      select({ id: editions.id, organization_id: editions.organization_id, slug: editions.slug })
        .from(editions)
        .where(
          and(
            eq(editions.id, edition_id),
            organization_id ? eq(editions.organization_id, organization_id) : undefined,
            isVisibleTo(ctx.caller, editionVisibility),
          ),
        ),
    )
    if (!row) throw notFound()
    return { ...row, edition_id, tenant: { organization_id: row.organization_id, editions: [edition_id] } }
  }
  if (!organization_id)
    throw invalid(parameterError(null, 'required_filter', 'Add at least one of edition_id and organization_id.'))
  const { id, slug, tenant } = await findOrganization(ctx, organization_id)
  return { id, organization_id: id, edition_id: null, slug, tenant }
}

/** A row of the export, and the sort keys after which the export continues. */
interface ExportPosition {
  edition_id: string
  keys: readonly KeyValue[]
}

interface ExportSource<Column extends string, Row> {
  /** The name of the file begins with it. */
  name: string
  cells: Table<Column, Row>['cells']
  /** True for editions that have rows. It is a condition on `editions`. */
  hasRows: SQL
  /** Finds a row that the caller sees. */
  findPosition: (id: string) => Promise<ExportPosition | undefined>
  /** Reads the rows of an edition in the order of their creation. */
  readPages: (editionId: string, page: { size: number; after: readonly KeyValue[] | null }) => AsyncGenerator<Row[]>
}

const contentTypes: Record<TableFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

/** Lists the editions of an export in the order of their creation, from that of the position on. */
async function listEditionIds(
  ctx: Ctx,
  { organization_id, edition_id }: ExportTarget,
  { hasRows, from }: { hasRows: SQL; from: string },
): Promise<string[]> {
  const rows = await ctx.db.all(
    select({ id: editions.id })
      .from(editions)
      .where(
        and(
          eq(editions.organization_id, organization_id),
          edition_id === null ? undefined : eq(editions.id, edition_id),
          sql`${editions.id} >= ${from}`,
          isVisibleTo(ctx.caller, editionVisibility),
          hasRows,
        ),
      )
      .orderBy(editions.id),
  )
  return rows.map(({ id }) => id)
}

async function findPosition<Column extends string, Row>(
  { edition_id }: ExportTarget,
  source: ExportSource<Column, Row>,
  after: string,
): Promise<ExportPosition> {
  const position = await source.findPosition(after)
  if (position && (edition_id === null || position.edition_id === edition_id)) return position
  throw invalid(
    parameterError('after', 'does_not_exist', 'The export has no such row. Send the id of another row that you have.'),
  )
}

async function* readEditions<Column extends string, Row>(
  source: ExportSource<Column, Row>,
  editionIds: readonly string[],
  position: ExportPosition | null,
): AsyncGenerator<Row[], void> {
  for (const id of editionIds) {
    const after = id === position?.edition_id ? position.keys : null
    yield* source.readPages(id, { size: rowsPerPage, after })
  }
}

interface ExportOptions<Column extends string> extends Pick<Table<Column, never>, 'columns' | 'format'> {
  bom?: boolean | undefined
  after?: string | undefined
  filters: object
}

/**
 * Builds the file with the rows of an edition, or of all editions of an organisation that the caller sees. The export is
 * recorded before the first row is sent. Its entry names the filters without their values, which may be personal data.
 */
export function exportEditions<Column extends string, Row>(
  ctx: Ctx,
  target: ExportTarget,
  { columns, format, bom = true, after, filters }: ExportOptions<Column>,
  source: ExportSource<Column, Row>,
) {
  const filterNames = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  return {
    name: `${source.name}-${target.slug}-${toIso(ctx.now()).slice(0, 10)}.${format}`,
    headers: { 'content-type': contentTypes[format] },
    open: async () => {
      const position = after === undefined ? null : await findPosition(target, source, after)
      const from = position?.edition_id ?? ''
      const editionIds = await listEditionIds(ctx, target, { hasRows: source.hasRows, from })
      const pages = readEditions(source, editionIds, position)
      const first = await pages.next()
      await ctx.db.batch(await ctx.recordWrite({ format, columns, filters: filterNames, after: after ?? null }, true))
      return streamTable({ format, columns, bom, cells: source.cells }, first.value ?? [], pages)
    },
  }
}
