import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { listChangeableEditions } from '../../../db/customers.ts'
import { AppError } from '../../../domain/errors.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { checkAction } from '../begin.ts'
import type { LoadedImport } from '../queries.ts'
import { actionOf, decideOrders, type PreviewAction, type PreviewedOrder, previewSetting } from './preview.ts'
import { type CountedPreview, findCounted, findNumbers } from './preview-counts.ts'
import { countedStatuses } from './preview-job.ts'
import { maxPreviewed, type PreviewQuery } from '../run/index.ts'

const settingOf = (ctx: Ctx, row: LoadedImport) =>
  previewSetting(ctx, row, listChangeableEditions(ctx.caller, row.organization_id))

interface KnownPreview {
  /** The first orders, or all of them. */
  first: Promise<PreviewedOrder[]>
  /** Of an import with more orders, while it waits for its start. */
  counted: Promise<CountedPreview | null>
}

/** Decided once for each request. */
const decided = new WeakMap<LoadedImport, KnownPreview>()

const isCounted = (row: LoadedImport): boolean =>
  row.total_orders > maxPreviewed && countedStatuses.some((status) => status === row.status)

/** The totals of an import with many orders. The first request has them counted in the background. */
async function findTotals(ctx: Ctx, row: LoadedImport): Promise<CountedPreview | null> {
  if (!isCounted(row)) return null
  const { id: import_id, version } = row
  const counted = await findCounted(ctx.db, row, ctx.now())
  if (counted.is_due)
    await ctx.jobQueue.enqueue('imports', [{ type: 'import.preview', import_id, version, seen: counted.seen }])
  return counted
}

function known(ctx: Ctx, row: LoadedImport): KnownPreview {
  const before = decided.get(row)
  if (before) return before
  const first = () =>
    settingOf(ctx, row).then((setting) => decideOrders(ctx, setting, { after: 0, limit: maxPreviewed }))
  const counted = findTotals(ctx, row)
  const now = { first: counted.then((totals) => (totals?.is_whole ? [] : first())), counted }
  decided.set(row, now)
  return now
}

interface Wanted {
  page: PageRequest
  isDescending: boolean
}

/** The page in the order of the file, of a list of so many orders. */
function rangeOf({ page, isDescending }: Wanted, count: number): { from: number; to: number } {
  const skipped = (page.page - 1) * page.size
  if (page.page > 1 && skipped >= count) throw new AppError('invalid_page', 'Invalid page.')
  const to = Math.max(0, isDescending ? count - skipped : Math.min(count, skipped + page.size))
  return { from: isDescending ? Math.max(0, to - page.size) : skipped, to }
}

function pageOf({ page, isDescending }: Wanted, rows: PreviewedOrder[], count: number): Page<PreviewedOrder> {
  if (isDescending) rows.reverse()
  const last = rows.at(-1)
  const isMore = (page.page - 1) * page.size + rows.length < count
  const after = last && isMore ? [last.planned.read.row.number] : null
  return { rows, count, page: page.page, size: page.size, after }
}

/** Orders after those that were decided at once. */
async function laterOrders(ctx: Ctx, row: LoadedImport, { from, to }: { from: number; to: number }) {
  const begin = await ctx.db.first(
    sql<{ number: number }>`select number from import_orders where import_id = ${row.id} order by number
      limit 1 offset ${from}`,
  )
  return decideOrders(ctx, await settingOf(ctx, row), { after: (begin?.number ?? 0) - 1, limit: to - from })
}

/** The orders of an action, wherever in the file they are. */
async function countedOrders(
  ctx: Ctx,
  row: LoadedImport,
  range: { from: number; to: number },
  action: PreviewAction,
): Promise<PreviewedOrder[]> {
  const only = await findNumbers(ctx.db, row, action, range)
  return only.length === 0 ? [] : decideOrders(ctx, await settingOf(ctx, row), { after: 0, limit: only.length, only })
}

export async function listPreview(
  ctx: Ctx,
  row: LoadedImport,
  page: PageRequest,
  { action, ordering }: PreviewQuery,
): Promise<Page<PreviewedOrder>> {
  checkAction(ctx, row, 'preview', 'previewed')
  const wanted = { page, isDescending: ordering[0]?.desc === true }
  const counted = await known(ctx, row).counted
  if (action !== undefined && counted?.is_whole) {
    const count = counted.totals[action]
    return pageOf(wanted, await countedOrders(ctx, row, rangeOf(wanted, count), action), count)
  }
  if (action === undefined && row.total_orders > maxPreviewed) {
    const range = rangeOf(wanted, row.total_orders)
    return pageOf(wanted, await laterOrders(ctx, row, range), row.total_orders)
  }
  const first = await known(ctx, row).first
  const matching = action === undefined ? first : first.filter((order) => actionOf(order) === action)
  const { from, to } = rangeOf(wanted, matching.length)
  return pageOf(wanted, matching.slice(from, to), matching.length)
}

function countFirst(first: readonly PreviewedOrder[]) {
  const totals = { create: 0, update: 0, skip: 0, error: 0, ignore: 0 }
  for (const order of first) totals[actionOf(order)]++
  return totals
}

/** The numbers of orders by action: of all orders, or none before they are counted. */
export async function previewTotals(ctx: Ctx, row: LoadedImport) {
  const { total_orders } = row
  if (total_orders <= maxPreviewed) {
    const first = await known(ctx, row).first
    return { totals: countFirst(first), totals_state: 'exact' as const, previewed_orders: first.length, total_orders }
  }
  const counted = await known(ctx, row).counted
  if (counted?.is_whole)
    return { totals: counted.totals, totals_state: 'exact' as const, previewed_orders: total_orders, total_orders }
  const totals_state = counted ? ('counting' as const) : ('none' as const)
  return { totals: null, totals_state, previewed_orders: 0, total_orders }
}
