import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { listChangeableEditions } from '../../../db/customers.ts'
import type { PreviewAction, PreviewTotals } from '../../../domain/data-imports/data-imports.ts'
import { AppError, invalidCursor } from '../../../domain/errors.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { checkAction } from '../begin.ts'
import { enqueuePreview } from '../enqueue.ts'
import type { LoadedImport } from '../queries.ts'
import { maxPreviewed, maxOrdersPerPage, type PreviewQuery } from '../run/run-contract.ts'
import {
  addToTotals,
  countedStatuses,
  countLookalikes,
  loadPreviewCount,
  noTotals,
  type PreviewCount,
} from './count-preview.ts'
import { previewOrders, getAction, loadPreviewSetting } from './preview.ts'
import type { PreviewedOrder, PreviewSetting } from './previewed-order.ts'

const loadSettingFor = (ctx: Ctx, row: LoadedImport): Promise<PreviewSetting> =>
  loadPreviewSetting(ctx, row, listChangeableEditions(ctx.caller, row.organization_id))

interface RequestPreview {
  /** All orders of a small import. */
  firstOrders: () => Promise<PreviewedOrder[]>
  /** Null for a small import, and after the start. */
  count: Promise<PreviewCount | null>
}

/** The list and the totals of one response share the orders that were decided for them. */
const requests = new WeakMap<LoadedImport, RequestPreview>()

/** Loads the count of a large import and enqueues its calculation when it is missing or old. */
async function requestCount(ctx: Ctx, row: LoadedImport): Promise<PreviewCount | null> {
  if (row.total_orders <= maxPreviewed || !countedStatuses.some((status) => status === row.status)) return null
  const count = await loadPreviewCount(ctx.db, row, ctx.now())
  if (count.isDue) await enqueuePreview(ctx, row.id)
  return count
}

function shareRequest(ctx: Ctx, row: LoadedImport): RequestPreview {
  const sharedRequest = requests.get(row)
  if (sharedRequest) return sharedRequest
  let orders: Promise<PreviewedOrder[]> | undefined
  const firstOrders = () =>
    (orders ??= loadSettingFor(ctx, row).then((setting) =>
      previewOrders(ctx, setting, { after: 0, limit: maxPreviewed }),
    ))
  const request = { firstOrders, count: requestCount(ctx, row) }
  requests.set(row, request)
  return request
}

interface PreviewPage {
  page: PageRequest
  isDescending: boolean
}

/** Returns a range in the order of the file. `offset` is the number of orders before the page. */
function findRange({ page, isDescending }: PreviewPage, offset: number, count: number): { from: number; to: number } {
  if (page.page > 1 && page.after === null && offset >= count)
    throw new AppError(
      'invalid_page',
      'There is no such page. `page` must be a whole number from 1 to the last page of the list.',
    )
  const to = Math.max(0, isDescending ? count - offset : Math.min(count, offset + page.size))
  return { from: isDescending ? Math.max(0, to - page.size) : Math.min(offset, to), to }
}

const getNumber = ({ plannedOrder }: PreviewedOrder): number => plannedOrder.fileOrder.stagedOrder.number

interface PreviewRange {
  orders: PreviewedOrder[]
  offset: number
  count: number
}

function buildPage({ page, isDescending }: PreviewPage, { orders, offset, count }: PreviewRange): Page<PreviewedOrder> {
  const rows = isDescending ? orders.toReversed() : orders
  const last = rows.at(-1)
  const hasMore = offset + rows.length < count
  return { rows, count, page: page.page, size: page.size, after: last && hasMore ? [getNumber(last)] : null }
}

function sliceOrders(pageOfList: PreviewPage, orders: readonly PreviewedOrder[]): Page<PreviewedOrder> {
  const { page, isDescending } = pageOfList
  const after = page.after && Number(page.after[0])
  const isSkipped = (order: PreviewedOrder): boolean =>
    after !== null && (isDescending ? getNumber(order) >= after : getNumber(order) <= after)
  const offset = after === null ? (page.page - 1) * page.size : orders.filter(isSkipped).length
  const { from, to } = findRange(pageOfList, offset, orders.length)
  return buildPage(pageOfList, { orders: orders.slice(from, to), offset, count: orders.length })
}

async function countSkipped(ctx: Ctx, { id }: LoadedImport, { page, isDescending }: PreviewPage): Promise<number> {
  if (page.after === null) return (page.page - 1) * page.size
  const isSkipped = sql`number ${sql.raw(isDescending ? '>=' : '<=')} ${page.after[0] ?? null}`
  const row = await ctx.db.first(
    sql<{ n: number }>`select count(*) as n from import_orders where import_id = ${id} and ${isSkipped}`,
  )
  return row?.n ?? 0
}

/** Loads and decides the page of a large import. */
async function loadPage(ctx: Ctx, row: LoadedImport, pageOfList: PreviewPage): Promise<Page<PreviewedOrder>> {
  const count = row.total_orders
  const offset = await countSkipped(ctx, row, pageOfList)
  const { from, to } = findRange(pageOfList, offset, count)
  const begin = await ctx.db.first(
    sql<{ number: number }>`select number from import_orders where import_id = ${row.id} order by number
      limit 1 offset ${from}`,
  )
  const setting = await loadSettingFor(ctx, row)
  const orders = await previewOrders(ctx, setting, { after: (begin?.number ?? 0) - 1, limit: to - from })
  return buildPage(pageOfList, { orders, offset, count })
}

const ordersAtOnce = 100

async function findNextNumbers(
  ctx: Ctx,
  { id }: LoadedImport,
  after: number | null,
  isDescending: boolean,
): Promise<number[]> {
  const isBehind = isDescending
    ? sql`number < ${after ?? Number.MAX_SAFE_INTEGER} order by number desc`
    : sql`number > ${after ?? 0} order by number`
  const rows = await ctx.db.all(
    sql<{ number: number }>`select number from import_orders where import_id = ${id} and ${isBehind}
      limit ${ordersAtOnce}`,
  )
  return rows.map(({ number }) => number)
}

/**
 * Decides orders behind the cursor until the page is full. A page looks at a limited number of orders, so it may have
 * fewer rows, and `next` continues behind the last order.
 */
async function walkOrders(
  ctx: Ctx,
  row: LoadedImport,
  { page, isDescending }: PreviewPage,
  action: PreviewAction,
): Promise<Pick<Page<PreviewedOrder>, 'rows' | 'after'>> {
  if (page.page > 1 && page.after === null)
    throw new AppError('page_too_deep', 'The orders with this action have no page numbers. Follow `next` instead.')
  const setting = await loadSettingFor(ctx, row)
  const rows: PreviewedOrder[] = []
  let after = page.after ? Number(page.after[0]) : null
  for (let walkedCount = 0; walkedCount < maxOrdersPerPage; walkedCount += ordersAtOnce) {
    const numbers = await findNextNumbers(ctx, row, after, isDescending)
    if (numbers.length === 0) return { rows, after: null }
    const orders = await previewOrders(ctx, setting, { after: Math.min(...numbers) - 1, limit: numbers.length })
    for (const order of isDescending ? orders.toReversed() : orders) {
      if (rows.length === page.size) return { rows, after: after === null ? null : [after] }
      after = getNumber(order)
      if (getAction(order) === action) rows.push(order)
    }
  }
  return { rows, after: after === null ? null : [after] }
}

export async function previewImportOrders(
  ctx: Ctx,
  page: PageRequest,
  { action, ordering }: PreviewQuery,
  row: LoadedImport,
): Promise<Page<PreviewedOrder>> {
  checkAction(ctx, row, 'preview', 'previewed')
  if (page.after && page.after.length !== 1) throw invalidCursor()
  const pageOfList = { page, isDescending: ordering[0]?.desc === true }
  const { firstOrders, count } = shareRequest(ctx, row)
  if (action === undefined && row.total_orders > maxPreviewed) return loadPage(ctx, row, pageOfList)
  const totals = (await count)?.totals
  if (action !== undefined && totals) {
    const walk = await walkOrders(ctx, row, pageOfList, action)
    // Page 2 leads back to page 1, the only one with a number.
    return { ...walk, count: totals[action], page: page.page, size: page.size, hasPrevious: page.page === 2 }
  }
  const orders = await firstOrders()
  return sliceOrders(pageOfList, action === undefined ? orders : orders.filter((order) => getAction(order) === action))
}

interface PreviewWarning {
  code: 'rows_look_imported'
  message: string
}

/** Warns if most rows without an id look like orders that exist. */
function findWarnings(totals: PreviewTotals, lookalikes: number): PreviewWarning[] {
  const orders = totals.create + totals.update + totals.skip + totals.error
  if (lookalikes * 2 <= orders) return []
  const message =
    `${lookalikes} of ${orders} rows look like orders that exist already. If they do, keep on_duplicate and ` +
    'external_source as they were in the earlier import. If they do not, map a column to order.external_id.'
  return [{ code: 'rows_look_imported', message }]
}

interface PreviewSummary {
  warnings: PreviewWarning[]
  totals: PreviewTotals | null
  totals_state: 'exact' | 'counting' | 'none'
  previewed_orders: number
  total_orders: number
}

/** Sums up the orders by action. `totals` is null until all orders are counted. */
export async function summarizePreview(ctx: Ctx, row: LoadedImport): Promise<PreviewSummary> {
  const { total_orders } = row
  const { firstOrders, count } = shareRequest(ctx, row)
  if (total_orders <= maxPreviewed) {
    const orders = await firstOrders()
    const totals = addToTotals(noTotals, orders)
    const warnings = findWarnings(totals, countLookalikes(orders))
    return { warnings, totals, totals_state: 'exact', previewed_orders: orders.length, total_orders }
  }
  const currentCount = await count
  if (currentCount?.totals)
    return {
      warnings: findWarnings(currentCount.totals, currentCount.lookalikes),
      totals: currentCount.totals,
      totals_state: 'exact',
      previewed_orders: total_orders,
      total_orders,
    }
  return {
    warnings: [],
    totals: null,
    totals_state: currentCount ? 'counting' : 'none',
    previewed_orders: 0,
    total_orders,
  }
}
