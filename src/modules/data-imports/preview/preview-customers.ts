import type { JobCtx } from '../../../context.ts'
import type { UserChange } from '../../user-import/index.ts'
import { customersPerChunk } from '../run/import-customers.ts'
import { buildUserRun, planCustomers } from '../run/plan-customers.ts'
import { mapStagedCustomers } from '../run/read-customers.ts'
import { loadOrders, selectOrdersAfter } from '../run/read-orders.ts'
import type { PreviewedOrder, PreviewSetting } from './previewed-order.ts'

const noChanges: readonly UserChange[] = []

/** Previews a range of customers in the groups that the import would use. */
export async function previewCustomers(
  ctx: JobCtx,
  { setting, run: { changeable }, headers }: PreviewSetting,
  range: { after: number; limit: number },
): Promise<PreviewedOrder[]> {
  const { id } = setting.row
  const run = { ...buildUserRun(setting, { changeable, import_id: null }), emit_webhooks: false }
  const previews: PreviewedOrder[] = []
  let { after } = range
  while (previews.length < range.limit) {
    const limit = Math.min(customersPerChunk, range.limit - previews.length)
    const stagedCustomers = await loadOrders(ctx.db, id, selectOrdersAfter(id, after, limit))
    if (stagedCustomers.length === 0) break
    const fileCustomers = mapStagedCustomers(setting, stagedCustomers, { changeable, now: ctx.now() })
    const { customers, plan } = await planCustomers(ctx, setting, run, fileCustomers)
    const changes = new Map(plan.records.map((record) => [record.outcome.index, record.changes]))
    previews.push(
      ...customers.map(({ user_id, fileOrder, ...customer }, index) => ({
        plannedOrder: { ...customer, fileOrder: { ...fileOrder, mappedOrder: null, order: null } },
        customer: fileOrder.user,
        customer_id: customer.outcome === 'created' ? null : user_id,
        amount_minor: null,
        changes: changes.get(index) ?? noChanges,
        headers,
      })),
    )
    after = stagedCustomers.at(-1)?.number ?? after
  }
  return previews
}
