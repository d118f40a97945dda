import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireChanges } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import type {
  CatalogueOrders,
  CatalogueStagePosition,
  PeopleStagePosition,
} from '../../../domain/data-imports/import-position.ts'
import type { KeptReason } from '../../../domain/data-imports/import-undo.ts'
import { loadImportedChains, type ImportedRecord, takeBackAnswers } from '../../consents/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import {
  commitStep,
  endPhase,
  type ImportRow,
  holdsPosition,
  buildPositionError,
  type PhaseStep,
} from '../background/steps.ts'
import { buildUndoAnnouncements } from './announcements.ts'
import { listEntries, buildRemoval } from './catalogue.ts'
import { loadWrittenOrders, type WrittenOrder } from './written-orders.ts'
import {
  extendCatalogueRange,
  findNextCatalogue,
  loadUndoData,
  deleteCatalogueUndoData,
  deletePeopleUndoData,
  type OrderUndoData,
} from './undo-data.ts'
import { buildUndoStatements } from './order-statements.ts'
import { findPeople, buildPeopleStatements } from './people.ts'

/** Deleting a catalogue entry makes the database check all tables that may refer to it. */
const entriesPerStep = 10
/** Each try undoes this many orders. Orders that others change at the same time are undone one by one. */
const ordersPerTry = [100, 100, 1, 1]

async function buildAnswerStatements(
  job: JobCtx,
  row: ImportRow,
  undoneOrders: readonly WrittenOrder[],
): Promise<Statement[]> {
  const userIds = [...new Set(undoneOrders.map(({ order }) => order.user_id))]
  const chains = await loadImportedChains(job.db, row.id, userIds)
  if (chains.length === 0) return []
  const mailedPeople = await job.db.all(
    sql<{ user_id: string }>`select distinct user_id from campaign_receipts
      where user_id in (select value from json_each(${JSON.stringify(userIds)}))
        and coalesce(received_at, ${job.now()}) >= ${row.started_at ?? row.created_at}`,
  )
  const orderIds = chains.flatMap((chain) => chain.flatMap(({ order_id }) => order_id ?? []))
  const earlierUndone = await job.db.all(
    sql<{ order_id: string }>`select order_id from import_orders
      where order_id in (select value from json_each(${JSON.stringify(orderIds)}))
        and import_id = ${row.id} and undo_outcome = 'undone'`,
  )
  const undoneOrderIds = new Set([
    ...earlierUndone.map(({ order_id }) => order_id),
    ...undoneOrders.map(({ order }) => order.id),
  ])
  const mailedUserIds = new Set(mailedPeople.map(({ user_id }) => user_id))
  const isTakenBack = ({ user_id, import_id, order_id }: ImportedRecord) =>
    import_id === row.id && order_id !== null && undoneOrderIds.has(order_id) && !mailedUserIds.has(user_id)
  return takeBackAnswers(chains, isTakenBack)
}

/** Stores whether each order was undone or kept. Its undo data stay until the people and the catalogue are undone. */
function buildUndoOutcomes({ id }: ImportRow, orders: readonly WrittenOrder[]): Statement[] {
  const outcomes = orders.map(({ number, reason }) => [id, number, reason === null ? 'undone' : 'kept', reason])
  return [
    sql`update import_orders set undo_outcome = undone.value ->> 2, undo_reason = undone.value ->> 3
      from json_each(${JSON.stringify(outcomes)}) as undone
      where import_id = undone.value ->> 0 and number = undone.value ->> 1 and undo_outcome is null`,
    requireChanges(orders.length),
  ]
}

/** Undoes orders that have no reason to be kept. Their purchases are announced only if the import announced its own. */
async function commitOrders(job: JobCtx, row: ImportRow, orders: readonly WrittenOrder[]): Promise<ImportRow | null> {
  const undoneOrders = orders.filter(({ reason }) => reason === null)
  const { emit_webhooks = false } = row.options
  const statements = [
    ...(await buildAnswerStatements(job, row, undoneOrders)),
    ...buildUndoStatements(row.organization_id, undoneOrders, job.now()),
    ...buildUndoOutcomes(row, orders),
    ...(emit_webhooks ? announceAll(job, await buildUndoAnnouncements(job.db, undoneOrders, job.now())) : []),
  ]
  return commitStep(job, row, {
    position: { stage: 'orders', below: orders.at(-1)?.number ?? 0 },
    changes: {
      undone_orders: row.undone_orders + undoneOrders.length,
      kept_orders: row.kept_orders + orders.length - undoneOrders.length,
    },
    statements,
  })
}

const keepAll = (orders: readonly WrittenOrder[], reason: KeptReason): WrittenOrder[] =>
  orders.map((one) => ({ ...one, reason: one.reason ?? reason }))

/** Undoes the next orders. Orders that change meanwhile are read again, and one that still cannot be undone is kept. */
async function undoOrders(job: JobCtx, row: ImportRow, below: number | null): Promise<ImportRow | null> {
  for (const size of ordersPerTry) {
    const orders = await loadWrittenOrders(job.db, row, below, size)
    if (orders.length === 0)
      return commitStep(job, row, { position: { stage: 'people', below: null, catalogue: null } })
    const next = await commitOrders(job, row, orders)
    if (next || !(await holdsPosition(job, row))) return next
  }
  return commitOrders(job, row, keepAll(await loadWrittenOrders(job.db, row, below, 1), 'still_referenced'))
}

interface PeopleStep {
  catalogue: CatalogueOrders | null
  orders: readonly OrderUndoData[]
  statements: readonly Statement[]
}

const commitPeople = (job: JobCtx, row: ImportRow, { catalogue, orders, statements }: PeopleStep) =>
  commitStep(job, row, {
    position: {
      stage: 'people',
      below: orders.at(-1)?.number ?? 0,
      catalogue: extendCatalogueRange(catalogue, orders),
    },
    statements: [...statements, ...deletePeopleUndoData(row, orders)],
  })

async function buildPeopleUndo(job: JobCtx, row: ImportRow, orders: readonly OrderUndoData[]): Promise<Statement[]> {
  const people = orders.flatMap(({ undo }) => undo.people ?? [])
  const rows = await findPeople(job.db, row, [...new Set(people.map(({ id }) => id))])
  return buildPeopleStatements(row, rows, people, job.now())
}

async function undoPeople(job: JobCtx, row: ImportRow, position: PeopleStagePosition): Promise<ImportRow | null> {
  const { below, catalogue } = position
  for (const size of ordersPerTry) {
    const orders = await loadUndoData(job.db, row, below, size)
    if (orders.length === 0) {
      const [from, last] = catalogue ?? [0, -1]
      return commitStep(job, row, { position: { stage: 'catalogue', below: last + 1, from, entry: 0 } })
    }
    const statements = await buildPeopleUndo(job, row, orders)
    const next = await commitPeople(job, row, { catalogue, orders, statements })
    if (next || !(await holdsPosition(job, row))) return next
  }
  const orders = await loadUndoData(job.db, row, below, 1)
  return commitPeople(job, row, { catalogue, orders, statements: [] })
}

async function undoCatalogue(job: JobCtx, row: ImportRow, position: CatalogueStagePosition) {
  const { below, from, entry } = position
  const order = await findNextCatalogue(job.db, row, below, from)
  if (!order) return endPhase(job, row, { status: 'undone' })
  const entries = listEntries(order.catalogue)
  const removedEntries = entries.slice(entry, entry + entriesPerStep)
  const isLast = entry + entriesPerStep >= entries.length
  const next = isLast ? { below: order.number, entry: 0 } : { below, entry: entry + entriesPerStep }
  return commitStep(job, row, {
    position: { stage: 'catalogue', from, ...next },
    statements: [
      ...removedEntries.flatMap((one) => buildRemoval(row, one)),
      ...(isLast ? [deleteCatalogueUndoData(row, order.number)] : []),
    ],
  })
}

/** Undoes orders from the last to the first, then customers, then the catalogue. */
export const undoStep: PhaseStep = (job, row) => {
  const { position } = row
  switch (position.stage) {
    case undefined:
      return undoOrders(job, row, null)
    case 'orders':
      return undoOrders(job, row, position.below)
    case 'people':
      return undoPeople(job, row, position)
    case 'catalogue':
      return undoCatalogue(job, row, position)
    default:
      throw buildPositionError(row)
  }
}
