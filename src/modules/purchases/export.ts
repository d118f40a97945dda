import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildContactFields, viewCustomers } from '../../db/customers.ts'
import { readPages } from '../../db/paginate.ts'
import { locations, products, variants } from '../../db/schema/catalog.ts'
import { orders } from '../../db/schema/orders.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { makeNullable, type RowOf, select } from '../../db/select.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { toMajor } from '../../domain/money.ts'
import { countAvailableUses } from '../../domain/orders/purchases.ts'
import type { Table } from '../../domain/text/table-file.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { exportEditions, type ExportTarget } from '../editions/index.ts'
import type { PurchaseColumn, PurchaseExportQuery } from './contract.ts'
import { buildPurchaseList } from './list.ts'
import { buildProductJoins } from './product-fields.ts'
import { purchaseVisibility } from './queries.ts'

export { findExportTarget } from '../editions/index.ts'

const buildExportFields = (view: ReturnType<typeof viewCustomers>) => ({
  id: purchases.id,
  vendor_code: purchases.vendor_code,
  status: purchases.status,
  edition_id: purchases.edition_id,
  order_id: purchases.order_id,
  order_number: orders.order_number,
  product_id: products.id,
  product_name: products.name,
  variant_name: makeNullable(variants.name),
  location_name: makeNullable(locations.name),
  options: purchases.options,
  user_id: purchases.user_id,
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
  price_minor: purchases.price_minor,
  deposit_minor: purchases.deposit_minor,
  handling_fee_minor: purchases.handling_fee_minor,
  refunded_minor: purchases.refunded_minor,
  currency: orders.currency,
  uses_limit: purchases.uses_limit,
  uses_count: purchases.uses_count,
  is_unlimited_use: purchases.is_unlimited_use,
  valid_until: purchases.valid_until,
  created_at: purchases.created_at,
  modified_at: purchases.modified_at,
})

type ExportRow = RowOf<ReturnType<typeof buildExportFields>>

const cells: Table<PurchaseColumn, ExportRow>['cells'] = {
  id: (row) => row.id,
  vendor_code: (row) => row.vendor_code,
  status: (row) => row.status,
  edition_id: (row) => row.edition_id,
  order_id: (row) => row.order_id,
  order_number: (row) => row.order_number,
  product_id: (row) => row.product_id,
  product_name: (row) => row.product_name,
  variant_name: (row) => row.variant_name,
  location_name: (row) => row.location_name,
  options: (row) => row.options.map(({ name }) => name),
  user_id: (row) => row.user_id,
  user_name: (row) => formatFullName(row),
  user_email: (row) => row.email,
  price_paid: (row) => toMajor(row.price_minor),
  deposit_paid: (row) => toMajor(row.deposit_minor),
  handling_fee_paid: (row) => toMajor(row.handling_fee_minor),
  refunded_amount: (row) => toMajor(row.refunded_minor),
  currency: (row) => row.currency,
  available_uses: (row) => countAvailableUses(row),
  is_unlimited_use: (row) => row.is_unlimited_use,
  is_used: (row) => row.uses_count > 0,
  valid_until: (row) => toIsoOrNull(row.valid_until),
  created: (row) => toIso(row.created_at),
  modified: (row) => toIso(row.modified_at),
}

/** Builds the file of the purchases that the list has with the same filters. */
export function exportPurchases(ctx: Ctx, target: ExportTarget, query: PurchaseExportQuery) {
  const { columns, format, bom, after, ...filters } = query
  const view = viewCustomers(ctx.caller)
  const fields = buildExportFields(view)
  return exportEditions(
    ctx,
    target,
    { columns, format, bom, after, filters },
    {
      name: 'purchases',
      cells,
      hasRows: sql`exists (select 1 from purchases where purchases.edition_id = editions.id)`,
      findPosition: async (id) => {
        const purchase = await ctx.db.first(
          select({ edition_id: purchases.edition_id, created_at: purchases.created_at })
            .from(purchases)
            .where(and(eq(purchases.id, id), isVisibleTo(ctx.caller, purchaseVisibility))),
        )
        return purchase && { edition_id: purchase.edition_id, keys: [purchase.created_at, id] }
      },
      readPages: (edition_id, page) => {
        const ordering = [{ name: 'created' as const, desc: false }]
        const list = buildPurchaseList(ctx.caller, { ...filters, edition_id, ordering }, { isWalk: true })
        const joins = sql`join ${purchases} on ${purchases.id} = page.id
          join orders on orders.id = purchases.order_id
          join users on users.id = purchases.user_id ${view.join}
          ${buildProductJoins(purchases)}`
        return readPages(ctx.db, { ...list, columns: fields, joins }, page)
      },
    },
  )
}
