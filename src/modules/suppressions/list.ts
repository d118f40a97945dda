import type { z } from '@hono/zod-openapi'
import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { suppressions } from '../../db/schema/suppressions.ts'
import { select } from '../../db/select.ts'
import { buildVisibility, isVisibleIn, isVisibleTo } from '../../db/visibility.ts'
import { inList } from '../../db/conditions.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { normalizeEmail, normalizePhone } from '../../domain/accounts/users.ts'
import { notFound } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { Suppression, SuppressionQuery } from './contract.ts'

export { findOrganization } from '../organizations/index.ts'

export type SuppressionRow = typeof suppressions.$inferSelect

const columns = getTableColumns(suppressions)

/** Suppressions belong to the organisation, so roles of an edition do not read them. */
const visibility = buildVisibility(sql`${columns.organization_id}`, sql`null`)

export function listSuppressions(ctx: Ctx, page: PageRequest, query: SuppressionQuery): Promise<Page<SuppressionRow>> {
  const { ordering, organization_id, channel, reason, address } = query
  const spellings = address ? [normalizeEmail(address), normalizePhone(address, null)] : []
  return paginate(ctx.db, page, {
    from: sql`${suppressions}`,
    id: sql`${columns.id}`,
    where: [
      isVisibleIn(ctx.caller, visibility, { organization_id }),
      ...(organization_id ? [eq(columns.organization_id, organization_id)] : []),
      ...(channel ? [eq(columns.channel, channel)] : []),
      ...(reason ? [eq(columns.reason, reason)] : []),
      ...(address
        ? [
            inList(
              sql`${columns.address}`,
              spellings.filter((spelling) => spelling !== null),
            ),
          ]
        : []),
    ],
    orderBy: buildOrderBy(ordering, '-created', {
      created: sql`${columns.created_at}`,
      address: sql`${columns.address}`,
    }),
    columns,
    joins: sql`join ${suppressions} on ${columns.id} = page.id`,
  })
}

export async function findSuppression(ctx: Ctx, id: string): Promise<SuppressionRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(columns)
      .from(suppressions)
      .where(and(eq(columns.id, id), isVisibleTo(ctx.caller, visibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}

export const presentSuppression = (row: SuppressionRow): z.input<typeof Suppression> => ({
  id: row.id,
  organization_id: row.organization_id,
  channel: row.channel,
  address: row.address,
  reason: row.reason,
  detail: row.detail,
  campaign_id: row.campaign_id,
  created: toIso(row.created_at),
})
