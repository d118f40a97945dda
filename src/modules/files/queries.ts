import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { files } from '../../db/schema/files.ts'
import { fromJson, type RowOf, select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type FileUse, isUsed, listFileUses } from './references.ts'

export type StoredFile = typeof files.$inferSelect

export const fileVisibility = buildVisibility(sql`files.organization_id`, sql`files.edition_id`)

export const buildFileColumns = (ctx: Ctx) => ({
  ...getTableColumns(files),
  /** The uses that the caller may see. Null: nothing uses the file, which is the case for most files. */
  uses: fromJson<FileUse[] | null>(
    sql`iif(${isUsed(sql`${files.id}`)}, ${listFileUses(ctx, sql`${files.id}`)}, 'null')`,
  ),
})

export const toFileRow = ({ uses, ...file }: RowOf<ReturnType<typeof buildFileColumns>>) => ({
  ...file,
  is_used: uses !== null,
  used_by: uses ?? [],
})

export type FileRow = ReturnType<typeof toFileRow>

export async function findFile(ctx: Ctx, id: string): Promise<FileRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(buildFileColumns(ctx))
      .from(files)
      .where(and(eq(files.id, id), isVisibleTo(ctx.caller, fileVisibility))),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  return { ...toFileRow(row), tenant: { organization_id, editions: edition_id === null ? [] : [edition_id] } }
}

export const selectScanWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'file_scans',
    from: sql`file_scans indexed by file_scans_due`,
    where: sql`due_at is not null`,
    dueAt: sql`due_at`,
  })
