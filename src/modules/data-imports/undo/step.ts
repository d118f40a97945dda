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
import { loadWrittenOrders, type WrittenOrder } from './load-orders.ts'
import {
  extendCatalogue,
  findCatalogue,
  findNotedOrders,
  forgetCatalogue,
  forgetPeople,
  type NotedOrder,
} from './noted-orders.ts'
import { buildUndoStatements } from './order-statements.ts'
import { findPeople, buildPeopleStatements } from './people.ts'

/** Deleting a catalogue entry makes the database check all tables that may refer to it. */
const entriesAStep = 10
/** Orders of each try. Orders that others change at the same time are undone one by one. */
const batchSizes = [100, 100, 1, 1]

async function buildAnswerStatements(
  job: JobCtx,
  row: ImportRow,
  undone: readonly WrittenOrder[],
): Promise<Statement[]> {
  const userIds = [...new Set(undone.map(({ order }) => order.user_id))]
  const chains = await loadImportedChains(job.db, row.id, userIds)
  if (chains.length === 0) return []
  const mailed = await job.db.all(
    sql<{ user_id: string }>`select distinct user_id from campaign_receipts
      where user_id in (select value from json_each(${JSON.stringify(userIds)}))
        and coalesce(received_at, ${job.now()}) >= ${row.started_at ?? row.created_at}`,
  )
  const orderIds = chains.flatMap((chain) => chain.flatMap(({ order_id }) => order_id ?? []))
  const before = await job.db.all(
    sql<{ order_id: string }>`select order_id from import_orders
      where order_id in (select value from json_each(${JSON.stringify(orderIds)}))
        and import_id = ${row.id} and undo_outcome = 'undone'`,
  )
  const undoneOrderIds = new Set([...before.map(({ order_id }) => order_id), ...undone.map(({ order }) => order.id)])
  const mailedUserIds = new Set(mailed.map(({ user_id }) => user_id))
  const isTakenBack = ({ user_id, import_id, order_id }: ImportedRecord) =>
    import_id === row.id && order_id !== null && undoneOrderIds.has(order_id) && !mailedUserIds.has(user_id)
  return takeBackAnswers(chains, isTakenBack)
}

/** The data for an undo stay until the people are undone. */
function buildUndoOutcomes({ id }: ImportRow, written: readonly WrittenOrder[]): Statement[] {
  const outcomes = written.map(({ number, reason }) => [id, number, reason === null ? 'undone' : 'kept', reason])
  return [
    sql`update import_orders set undo_outcome = done.value ->> 2, undo_reason = done.value ->> 3
      from json_each(${JSON.stringify(outcomes)}) as done
      where import_id = done.value ->> 0 and number = done.value ->> 1 and undo_outcome is null`,
    requireChanges(written.length),
  ]
}

/** Announces the purchases if the import announced them. */
async function commitOrders(job: JobCtx, row: ImportRow, written: readonly WrittenOrder[]): Promise<ImportRow | null> {
  const undone = written.filter(({ reason }) => reason === null)
  const { emit_webhooks = false } = row.options
  const statements = [
    ...(await buildAnswerStatements(job, row, undone)),
    ...buildUndoStatements(row.organization_id, undone, job.now()),
    ...buildUndoOutcomes(row, written),
    ...(emit_webhooks ? announceAll(job, await buildUndoAnnouncements(job.db, undone, job.now())) : []),
  ]
  return commitStep(job, row, {
    position: { stage: 'orders', below: written.at(-1)?.number ?? 0 },
    changes: {
      undone_orders: row.undone_orders + undone.length,
      kept_orders: row.kept_orders + written.length - undone.length,
    },
    statements,
  })
}

const keepAll = (written: readonly WrittenOrder[], reason: KeptReason): WrittenOrder[] =>
  written.map((one) => ({ ...one, reason: one.reason ?? reason }))

/** Orders that change meanwhile are read again. An order that cannot be deleted is kept. */
async function undoOrders(job: JobCtx, row: ImportRow, below: number | null): Promise<ImportRow | null> {
  for (const size of batchSizes) {
    const written = await loadWrittenOrders(job.db, row, below, size)
    if (written.length === 0)
      return commitStep(job, row, { position: { stage: 'people', below: null, catalogue: null } })
    const next = await commitOrders(job, row, written)
    if (next || !(await holdsPosition(job, row))) return next
  }
  return commitOrders(job, row, keepAll(await loadWrittenOrders(job.db, row, below, 1), 'still_referenced'))
}

interface PeopleStep {
  catalogue: CatalogueOrders | null
  noted: readonly NotedOrder[]
  statements: readonly Statement[]
}

const commitPeople = (job: JobCtx, row: ImportRow, { catalogue, noted, statements }: PeopleStep) =>
  commitStep(job, row, {
    position: { stage: 'people', below: noted.at(-1)?.number ?? 0, catalogue: extendCatalogue(catalogue, noted) },
    statements: [...statements, ...forgetPeople(row, noted)],
  })

async function buildPeopleUndo(job: JobCtx, row: ImportRow, noted: readonly NotedOrder[]): Promise<Statement[]> {
  const people = noted.flatMap(({ before }) => before.people ?? [])
  const rows = await findPeople(job.db, row, [...new Set(people.map(({ id }) => id))])
  return buildPeopleStatements(row, rows, people, job.now())
}

async function undoPeople(job: JobCtx, row: ImportRow, position: PeopleStagePosition): Promise<ImportRow | null> {
  const { below, catalogue } = position
  for (const size of batchSizes) {
    const notedOrders = await findNotedOrders(job.db, row, below, size)
    if (notedOrders.length === 0) {
      const [from, last] = catalogue ?? [0, -1]
      return commitStep(job, row, { position: { stage: 'catalogue', below: last + 1, from, entry: 0 } })
    }
    const statements = await buildPeopleUndo(job, row, notedOrders)
    const next = await commitPeople(job, row, { catalogue, noted: notedOrders, statements })
    if (next || !(await holdsPosition(job, row))) return next
  }
  const notedOrders = await findNotedOrders(job.db, row, below, 1)
  return commitPeople(job, row, { catalogue, noted: notedOrders, statements: [] })
}

async function undoCatalogue(job: JobCtx, row: ImportRow, position: CatalogueStagePosition) {
  const { below, from, entry } = position
  const notedOrder = await findCatalogue(job.db, row, below, from)
  if (!notedOrder) return endPhase(job, row, { status: 'undone' })
  const entries = listEntries(notedOrder.catalogue)
  const removedEntries = entries.slice(entry, entry + entriesAStep)
  const isLast = entry + entriesAStep >= entries.length
  const next = isLast ? { below: notedOrder.number, entry: 0 } : { below, entry: entry + entriesAStep }
  return commitStep(job, row, {
    position: { stage: 'catalogue', from, ...next },
    statements: [
      ...removedEntries.flatMap((one) => buildRemoval(row, one)),
      ...(isLast ? [forgetCatalogue(row, notedOrder.number)] : []),
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
