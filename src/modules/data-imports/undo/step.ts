import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireChanges } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import type {
  CatalogueStagePosition,
  OrdersStagePosition,
  PeopleStagePosition,
} from '../../../domain/data-imports/import-position.ts'
import type { KeptReason, UndoReason } from '../../../domain/data-imports/import-undo.ts'
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
import { undoAnswers } from './answers.ts'
import { listEntries, buildRemoval } from './catalogue.ts'
import { loadWrittenCustomers, undoCustomerAnswers } from './customers.ts'
import { buildUndoStatements, listRestoredVersions, pickUpdated } from './order-statements.ts'
import { buildPeopleChanges, findPeople, listProtectedPeople, listRemainingPeople, type UndoRights } from './people.ts'
import {
  extendCatalogueRange,
  findNextCatalogue,
  loadUndoData,
  deleteCatalogueUndoData,
  deletePeopleUndoData,
  type OrderUndoData,
} from './undo-data.ts'
import { loadWrittenOrders, type WrittenOrder } from './written-orders.ts'

/** Deleting a catalogue entry makes the database check all tables that may refer to it. */
const entriesPerStep = 10
/** Each try undoes this many orders. Orders that others change at the same time are undone one by one. */
const ordersPerTry = [100, 100, 1, 1]
const sharedCustomer: UndoReason = 'shared_customer'
const stillReferenced: KeptReason = 'still_referenced'

/** Stores whether each order was undone or kept. Its undo data stay until the people and the catalogue are undone. */
function buildUndoOutcomes(
  { id }: ImportRow,
  orders: readonly WrittenOrder[],
  { protectedOrderIds, now }: { protectedOrderIds: ReadonlySet<string>; now: number },
): Statement[] {
  const outcomes = orders.map((one) => {
    const { number, order, reason } = one
    if (reason !== null) return [id, number, 'kept', reason]
    const [updatedOrder] = pickUpdated([one])
    const restoredVersions = updatedOrder ? JSON.stringify(listRestoredVersions(updatedOrder, now)) : null
    return [id, number, 'undone', protectedOrderIds.has(order.id) ? sharedCustomer : null, restoredVersions]
  })
  return [
    sql`update import_orders set undo_outcome = undone.value ->> 2, undo_reason = undone.value ->> 3,
        restored_versions = undone.value ->> 4
      from json_each(${JSON.stringify(outcomes)}) as undone
      where import_id = undone.value ->> 0 and number = undone.value ->> 1 and undo_outcome is null`,
    requireChanges(orders.length),
  ]
}

/** Undoes orders that have no reason to be kept. The undo is announced only if the import was. */
async function commitOrders(
  job: JobCtx,
  row: ImportRow,
  orders: readonly WrittenOrder[],
  { changeable }: UndoRights,
): Promise<ImportRow | null> {
  const undoneOrders = orders.filter(({ reason }) => reason === null)
  const { emit_webhooks = false } = row.options
  const now = job.now()
  const { statements: answers, protectedOrderIds } = await undoAnswers(job, row, undoneOrders, { changeable })
  const statements = [
    ...answers,
    ...buildUndoStatements(row.organization_id, undoneOrders, now),
    ...buildUndoOutcomes(row, orders, { protectedOrderIds, now }),
    ...(emit_webhooks ? announceAll(job, await buildUndoAnnouncements(job.db, undoneOrders, now)) : []),
  ]
  return commitStep(job, row, {
    position: { stage: 'orders', below: orders.at(-1)?.number ?? 0, changeable },
    changes: {
      undone_orders: row.undone_orders + undoneOrders.length,
      kept_orders: row.kept_orders + orders.length - undoneOrders.length,
      shared_customer_orders: row.shared_customer_orders + protectedOrderIds.size,
    },
    statements,
  })
}

const keepAll = (orders: readonly WrittenOrder[], reason: KeptReason): WrittenOrder[] =>
  orders.map((one) => ({ ...one, reason: one.reason ?? reason }))

/** Undoes the next orders. Orders that change meanwhile are read again, and one that still cannot be undone is kept. */
async function undoOrders(job: JobCtx, row: ImportRow, position: OrdersStagePosition): Promise<ImportRow | null> {
  if (row.kind === 'customers') return undoCustomers(job, row, position)
  const { below, changeable } = position
  for (const size of ordersPerTry) {
    const orders = await loadWrittenOrders(job.db, row, below, size)
    if (orders.length === 0)
      return commitStep(job, row, { position: { stage: 'people', below: null, catalogue: null, changeable } })
    const next = await commitOrders(job, row, orders, position)
    if (next || !(await holdsPosition(job, row))) return next
  }
  const lastOrders = keepAll(await loadWrittenOrders(job.db, row, below, 1), stillReferenced)
  return commitOrders(job, row, lastOrders, position)
}

/** Takes back what customers of an import answered. The next stage deletes the customers. */
async function undoCustomers(job: JobCtx, row: ImportRow, position: OrdersStagePosition): Promise<ImportRow | null> {
  const { below, changeable } = position
  for (const size of ordersPerTry) {
    const customers = await loadWrittenCustomers(job, row, below, size)
    if (customers.length === 0)
      return commitStep(job, row, { position: { stage: 'people', below: null, catalogue: null, changeable } })
    const { statements, undone, kept, shared } = await undoCustomerAnswers(job, row, customers, { changeable })
    const next = await commitStep(job, row, {
      position: { stage: 'orders', below: customers.at(-1)?.number ?? 0, changeable },
      changes: {
        undone_orders: row.undone_orders + undone,
        kept_orders: row.kept_orders + kept,
        shared_customer_orders: row.shared_customer_orders + shared,
      },
      statements,
    })
    if (next || !(await holdsPosition(job, row))) return next
  }
  throw new Error(`The undo of ${row.id} lost the race against other requests ${ordersPerTry.length} times.`)
}

interface PeopleUndo {
  statements: readonly Statement[]
  /** Numbers of undone orders whose people keep something. */
  protectedNumbers: readonly number[]
  /** Numbers of customers who stay in the edition, because something refers to them. */
  remainingNumbers: readonly number[]
}

function commitPeople(
  job: JobCtx,
  row: ImportRow,
  { catalogue, changeable }: PeopleStagePosition,
  { orders, statements, protectedNumbers, remainingNumbers }: PeopleUndo & { orders: readonly OrderUndoData[] },
): Promise<ImportRow | null> {
  return commitStep(job, row, {
    position: {
      stage: 'people',
      below: orders.at(-1)?.number ?? 0,
      catalogue: extendCatalogueRange(catalogue, orders),
      changeable,
    },
    changes: {
      shared_customer_orders: row.shared_customer_orders + protectedNumbers.length,
      undone_orders: row.undone_orders - remainingNumbers.length,
      kept_orders: row.kept_orders + remainingNumbers.length,
    },
    statements: [
      ...statements,
      ...(protectedNumbers.length > 0
        ? [
            sql`update import_orders set undo_reason = ${sharedCustomer}
              where import_id = ${row.id} and ${inList(sql`number`, protectedNumbers)}`,
          ]
        : []),
      ...(remainingNumbers.length > 0
        ? [
            sql`update import_orders set undo_outcome = 'kept', undo_reason = ${stillReferenced}
              where import_id = ${row.id} and ${inList(sql`number`, remainingNumbers)}`,
          ]
        : []),
      ...deletePeopleUndoData(row, orders),
    ],
  })
}

async function buildPeopleUndo(
  job: JobCtx,
  row: ImportRow,
  orders: readonly OrderUndoData[],
  rights: UndoRights,
): Promise<PeopleUndo> {
  const changes = orders.flatMap(({ undo }) => undo.people ?? [])
  const people = await findPeople(job.db, row, [...new Set(changes.map(({ id }) => id))], rights)
  const protectedIds = new Set(listProtectedPeople(people, changes))
  const hasProtected = ({ undo }: OrderUndoData) => undo.people?.some(({ id }) => protectedIds.has(id)) === true
  const { statements, announcements } = buildPeopleChanges(row, people, changes, { ...rights, now: job.now() })
  const remainingIds = new Set(row.kind === 'customers' ? listRemainingPeople(people, changes) : [])
  const isRemaining = ({ undo }: OrderUndoData) => undo.people?.some(({ id }) => remainingIds.has(id)) === true
  const undoneOrders = orders.filter(({ is_undone }) => is_undone)
  return {
    statements: [...statements, ...(row.options.emit_webhooks ? announceAll(job, announcements) : [])],
    protectedNumbers: undoneOrders.filter((one) => hasProtected(one) && !isRemaining(one)).map(({ number }) => number),
    remainingNumbers: undoneOrders.filter(isRemaining).map(({ number }) => number),
  }
}

async function undoPeople(job: JobCtx, row: ImportRow, position: PeopleStagePosition): Promise<ImportRow | null> {
  const { below, catalogue } = position
  for (const size of ordersPerTry) {
    const orders = await loadUndoData(job.db, row, below, size)
    if (orders.length === 0) {
      const [from, last] = catalogue ?? [0, -1]
      return commitStep(job, row, { position: { stage: 'catalogue', below: last + 1, from, entry: 0 } })
    }
    const undo = await buildPeopleUndo(job, row, orders, position)
    const next = await commitPeople(job, row, position, { orders, ...undo })
    if (next || !(await holdsPosition(job, row))) return next
  }
  const orders = await loadUndoData(job.db, row, below, 1)
  return commitPeople(job, row, position, { orders, statements: [], protectedNumbers: [], remainingNumbers: [] })
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
    case 'orders':
      return undoOrders(job, row, position)
    case 'people':
      return undoPeople(job, row, position)
    case 'catalogue':
      return undoCatalogue(job, row, position)
    default:
      throw buildPositionError(row)
  }
}
